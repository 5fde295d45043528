import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffWords } from './text-block.tsx';

/** Short form: = same, − removed, + added. */
const brief = (before: string, after: string) =>
  diffWords(before, after).map(
    ({ kind, text }) => ({ same: '=', removed: '−', added: '+' })[kind] + text,
  );

describe('diffWords()', () => {
  test.each([
    ['a b c', 'a c d', ['=a', '− b', '= c', '+ d']],
    ['a b', 'a b', ['=a b']],
    ['', 'a b', ['+a b']],
    ['a b', '', ['−a b']],
    ['', '', []],
    ['the cat sat', 'the dog sat', ['=the', '− cat', '+ dog', '= sat']],
    ['x y z', 'p q r', ['−x y z', '+p q r']],
    ['a\nb', 'a b', ['=a', '−\nb', '+ b']],
    ['a b a', 'a', ['=a', '− b a']],
  ])('from %j to %j', (before, after, parts) => {
    expect(brief(before, after)).toEqual(parts);
  });

  test('contains both texts completely', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', ' c', '\nd', '  '), { maxLength: 10 })
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = diffWords(before, after);
        const without = (kind: string) =>
          parts
            .filter((part) => part.kind !== kind)
            .map((part) => part.text)
            .join('');
        expect(without('added')).toBe(before);
        expect(without('removed')).toBe(after);
      }),
    );
  });

  test('texts that are too long to compare count as entirely different', () => {
    const words = (prefix: string) =>
      Array.from({ length: 2100 }, (_, i) => `${prefix}${i}`).join(' ');
    expect(diffWords(words('a'), words('b')).map(({ kind }) => kind)).toEqual(['removed', 'added']);
  });
});
