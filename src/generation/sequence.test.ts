import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StopFilter } from './sequence.ts';

/** The output for each piece, then at the end. */
function filter(stops: string[], pieces: string[]): string[] {
  const stopFilter = new StopFilter(stops);
  return [...pieces.map((piece) => stopFilter.push(piece)), stopFilter.finish()];
}

test('StopFilter passes everything through without stop strings', () => {
  expect(filter([], ['a', '', 'b'])).toEqual(['a', '', 'b', '']);
});

test('StopFilter holds back a possible start of a stop string', () => {
  expect(filter(['###'], ['a#', '#', 'b##'])).toEqual(['a', '', '##b', '##']);
});

test('StopFilter ends before a stop string that spans pieces', () => {
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

test('StopFilter returns the text before the first stop string for any pieces', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 });
  const stops = fc.array(
    letters.filter((text) => text !== ''),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(stops, fc.array(letters), (needles, pieces) => {
      const text = pieces.join('');
      // A stop string is found as soon as it is complete, so the one that ends first counts.
      const ends = needles
        .filter((needle) => text.includes(needle))
        .map((needle) => text.indexOf(needle) + needle.length);
      const output = filter(needles, [...text]).join('');
      const seen = ends.length === 0 ? text : text.slice(0, Math.min(...ends));
      const starts = needles.map((needle) => seen.indexOf(needle)).filter((at) => at >= 0);
      expect(output).toBe(starts.length === 0 ? text : text.slice(0, Math.min(...starts)));
    }),
  );
});
