import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ComparedPair,
  expandBest,
  expandRanking,
  normalizeRating,
  splitConversations,
  splitTexts,
} from './preference-columns.ts';

const totalWeight = (pairs: readonly ComparedPair[]) =>
  pairs.reduce((sum, { weight }) => sum + weight, 0);

describe('expandBest()', () => {
  test('compares the best of three with the two others', () => {
    expect(expandBest(1, 3)).toEqual([
      { chosen: 1, rejected: 0, target: 1, weight: 0.5 },
      { chosen: 1, rejected: 2, target: 1, weight: 0.5 },
    ]);
  });

  test('the pairs of a prompt have a total weight of 1', () => {
    const choice = fc
      .integer({ min: 2, max: 20 })
      .chain((count) => fc.tuple(fc.nat(count - 1), fc.constant(count)));
    fc.assert(
      fc.property(choice, ([best, count]) => {
        const pairs = expandBest(best, count);
        expect(totalWeight(pairs)).toBeCloseTo(1, 12);
        const rejected = new Set(pairs.map((pair) => pair.rejected));
        expect(rejected.size).toBe(count - 1);
        expect(rejected.has(best)).toBe(false);
      }),
    );
  });
});

describe('expandRanking()', () => {
  test('compares every pair of three, two of which are equal', () => {
    const weight = 1 / 3;
    expect(expandRanking([[2], [0, 1]])).toEqual([
      { chosen: 2, rejected: 0, target: 1, weight },
      { chosen: 2, rejected: 1, target: 1, weight },
      { chosen: 0, rejected: 1, target: 0.5, weight },
    ]);
  });

  test('compares every pair once, consistently with the scores behind the ranking', () => {
    const scores = fc.array(fc.nat(4), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(scores, (all) => {
        const levels = [...new Set(all)].sort((a, b) => b - a);
        const ranks = levels.map((level) => [...all.keys()].filter((i) => all[i] === level));
        const pairs = expandRanking(ranks);
        expect(totalWeight(pairs)).toBeCloseTo(1, 12);
        const names = pairs.map(({ chosen, rejected }) => [chosen, rejected].sort().join());
        expect(new Set(names).size).toBe((all.length * (all.length - 1)) / 2);
        for (const { chosen, rejected, target } of pairs) {
          const [better, worse] = [all[chosen]!, all[rejected]!];
          expect(target).toBe(better === worse ? 0.5 : 1);
          expect(better).toBeGreaterThanOrEqual(worse);
        }
      }),
    );
  });
});

const sides = (prompt: unknown, chosen: unknown, rejected: unknown) => ({
  prompt,
  chosen,
  rejected,
});

describe('splitTexts()', () => {
  test.each([
    [
      'the last marker of HH that both share',
      ['\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant: I do', ' I see'],
      ['\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant:', ' I do', ' I see'],
    ],
    ['the word before', ['The cat sat', 'The cat sits'], ['The cat', ' sat', ' sits']],
    ['a label', ['Q: 2?\nA: 4', 'Q: 2?\nA: 5'], ['Q: 2?\nA:', ' 4', ' 5']],
    ['a line', ['one\n\ntwo', 'one\n\nthree'], ['one\n\n', 'two', 'three']],
    ['the last of several spaces', ['a  b', 'a  c'], ['a ', ' b', ' c']],
    ['a position where both have text left', ['a b', 'a b c'], ['a', ' b', ' b c']],
    ['nothing', ['Hello', 'Help'], ['', 'Hello', 'Help']],
    ['nothing of an empty text', ['', 'a b'], ['', '', 'a b']],
  ])('splits after %s', (name, texts, [prompt, ...rest]) => {
    const [chosen = '', other = ''] = texts;
    const rejected = name.includes('HH') ? `${prompt}${other}` : other;
    expect(splitTexts(chosen, rejected)).toEqual(sides(prompt, rest[0], rest[1]));
  });

  test('treats text after a later marker on one side as its completion', () => {
    const start = '\n\nHuman: a\n\nAssistant:';
    const chosen = `${start} b\n\nHuman: c\n\nAssistant: d`;
    expect(splitTexts(chosen, `${start} e`)).toEqual(
      sides(start, ' b\n\nHuman: c\n\nAssistant: d', ' e'),
    );
  });

  const part = fc.constantFrom(
    ' ',
    '\n',
    '\t',
    'a',
    'b',
    'word',
    '🐕',
    '🐈',
    '\n\nAssistant:',
    'é',
  );
  const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));

  test('loses nothing and never splits a word or a character', () => {
    fc.assert(
      fc.property(text, text, text, (start, a, b) => {
        const [chosen, rejected] = [start + a, start + b];
        const split = splitTexts(chosen, rejected);
        expect(split.prompt + split.chosen).toBe(chosen);
        expect(split.prompt + split.rejected).toBe(rejected);
        if (split.prompt === '' || split.prompt.endsWith('\n\nAssistant:')) return;
        expect(`${split.prompt.slice(-1)}|${split.chosen}`).toMatch(/^(\n\||.\|\s)/s);
        expect(`${split.prompt.slice(-1)}|${split.rejected}`).toMatch(/^(\n\||.\|\s)/s);
      }),
    );
  });

  test('finds any prompt of whole lines', () => {
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), word, word, (lines, a, b) => {
        const prompt = lines.map((line) => `${line}\n`).join('');
        expect(splitTexts(`${prompt}${a}`, `${prompt}${b}`)).toEqual(sides(prompt, a, b));
      }),
    );
  });
});

describe('splitConversations()', () => {
  const [u1, u2] = ['x', 'y'].map((content) => ({ role: 'user', content })) as [never, never];
  const [a1, a2, a3] = ['p', 'q', 'r'].map((content) => ({ role: 'assistant', content })) as [
    never,
    never,
    never,
  ];

  test.each([
    ['what both share', [u1, a1, u2, a2], [u1, a1, u2, a3], 3],
    ['a question, not an answer', [u1, a1, u2, a2], [u1, a1], 1],
    ['a question if the answers start with the same message', [u1, a1, a2], [u1, a1, a3], 1],
    ['nothing', [u1, a1], [u2, a1], 0],
    ['a question if everything is equal', [u1, a1], [u1, a1], 1],
  ])('splits after %s', (_, chosen, rejected, end) => {
    expect(splitConversations(chosen, rejected)).toEqual(
      sides(chosen.slice(0, end), chosen.slice(end), rejected.slice(end)),
    );
  });
});

test.each([
  [4, 1, 5, 0.75],
  [1, 1, 5, 0],
  [5, 1, 5, 1],
  [0, -1, 1, 0.5],
  [6, 1, 5, undefined],
  [0.5, 1, 5, undefined],
])('a rating of %f on a scale from %f to %f is %s', (rating, min, max, expected) => {
  expect(normalizeRating(rating, { min, max })).toBe(expected);
});
