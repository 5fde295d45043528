import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StopFilter } from './stop-filter.ts';

/** What comes out for each piece, and at the end. */
function filter(stops: string[], pieces: string[]): string[] {
  const stopFilter = new StopFilter(stops);
  return [...pieces.map((piece) => stopFilter.push(piece)), stopFilter.finish()];
}

test('StopFilter lets everything through at once where nothing stops it', () => {
  expect(filter([], ['a', '', 'b'])).toEqual(['a', '', 'b', '']);
});

test('StopFilter holds back what may start a stop string', () => {
  expect(filter(['###'], ['a#', '#', 'b##'])).toEqual(['a', '', '##b', '##']);
});

test('StopFilter ends before the stop string, over the border of pieces', () => {
  expect(filter(['\n\nUser'], ['Yes.\n', '\nUs', 'er: more', ' text'])).toEqual([
    'Yes.',
    '',
    '',
    '',
    '',
  ]);
});

test('StopFilter ends at the first of several stop strings', () => {
  expect(filter(['b', 'cd'], ['acdb'])).toEqual(['a', '']);
});

test('StopFilter gives the text before the first stop string, however it is cut', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 });
  const stops = fc.array(
    letters.filter((text) => text !== ''),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(stops, fc.array(letters), (needles, pieces) => {
      const text = pieces.join('');
      // A stop string is noticed as soon as it is complete, so the shortest beginning counts.
      const ends = needles
        .filter((needle) => text.includes(needle))
        .map((needle) => text.indexOf(needle) + needle.length);
      const out = filter(needles, [...text]).join('');
      const seen = ends.length === 0 ? text : text.slice(0, Math.min(...ends));
      const starts = needles.map((needle) => seen.indexOf(needle)).filter((at) => at >= 0);
      expect(out).toBe(starts.length === 0 ? text : text.slice(0, Math.min(...starts)));
    }),
  );
});
