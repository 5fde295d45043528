import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandBest, expandRanking, type PairPlaces } from './preference-pairs.ts';

const totalWeight = (pairs: readonly PairPlaces[]) =>
  pairs.reduce((sum, { weight }) => sum + weight, 0);

describe('expandBest()', () => {
  test('sets the best of three against the two others', () => {
    expect(expandBest(1, 3)).toEqual([
      { chosen: 1, rejected: 0, target: 1, weight: 0.5 },
      { chosen: 1, rejected: 2, target: 1, weight: 0.5 },
    ]);
  });

  test('gives one prompt the weight of one', () => {
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
  test('compares every two of three, of which two are equal', () => {
    const weight = 1 / 3;
    expect(expandRanking([[2], [0, 1]])).toEqual([
      { chosen: 2, rejected: 0, target: 1, weight },
      { chosen: 2, rejected: 1, target: 1, weight },
      { chosen: 0, rejected: 1, target: 0.5, weight },
    ]);
  });

  test('compares every two once, as the scores would that made the ranking', () => {
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
