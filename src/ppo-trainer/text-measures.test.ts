import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bestOfN,
  explainedVariance,
  mean,
  repetition,
  standardDeviation,
  winRate,
} from './text-measures.ts';

const number = fc.double({ min: -1e3, max: 1e3, noNaN: true });
const numbers = fc.array(number, { minLength: 1, maxLength: 12 });
const pairs = fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 12 });

describe('mean() and standardDeviation()', () => {
  test('give the hand-worked numbers', () => {
    expect(mean([1, 2, 3, 4])).toBe(2.5);
    expect(standardDeviation([1, 2, 3, 6])).toBeCloseTo(Math.sqrt(14 / 3), 12);
    expect(standardDeviation([1, 2, 3, 6])).toBeCloseTo(2.1602, 4);
  });

  test('a single number has no deviation', () => {
    expect(standardDeviation([5])).toBe(0);
  });

  test('equal numbers deviate by exactly 0, rounding or not', () => {
    expect(standardDeviation([0.1, 0.1, 0.1])).toBe(0);
  });

  test('no numbers have no mean', () => {
    expect(() => mean([])).toThrow('Internal: the mean of no numbers');
  });
});

describe('bestOfN()', () => {
  test('gives the hand-worked number', () => {
    expect(bestOfN([1, 3, 0, -2], 2)).toBe(1.5);
  });

  test('is the mean for n = 1 and otherwise that of the best, wherever they stand', () => {
    fc.assert(
      fc.property(numbers, fc.nat(3), fc.nat(3), (scores, before, after) => {
        expect(bestOfN(scores, 1)).toBe(mean(scores));
        const worse = (score: number, count: number) => Array<number>(count).fill(score - 1);
        const all = scores.flatMap((score) => [
          ...worse(score, before),
          score,
          ...worse(score, after),
        ]);
        expect(bestOfN(all, before + 1 + after)).toBe(mean(scores));
      }),
    );
  });

  test('refuses scores that are not n for each prompt', () => {
    expect(() => bestOfN([1, 2, 3], 2)).toThrow('Internal: 3 scores are not 2 for each prompt');
  });
});

describe('winRate()', () => {
  test('gives the hand-worked number', () => {
    expect(winRate([1, 2, 3, 0], [0, 2, 5, 0])).toBe(0.5);
    expect(winRate([1, 2], [0, 2])).toBe(0.75);
  });

  test('of both sides adds up to 1', () => {
    fc.assert(
      fc.property(pairs, (both) => {
        const a = both.map(([first]) => first);
        const b = both.map(([, second]) => second);
        expect(winRate(a, b) + winRate(b, a)).toBeCloseTo(1, 12);
      }),
    );
  });

  test('refuses sides of different length', () => {
    expect(() => winRate([1], [1, 2])).toThrow('Internal: 1 numbers are compared with 2');
  });
});

describe('repetition()', () => {
  test('gives the hand-worked numbers', () => {
    expect(repetition([[7, 7, 7, 7, 7]])).toBeCloseTo(2 / 3, 12);
    expect(repetition([[1, 2, 3, 1, 2, 3]])).toBe(0.25);
    expect(repetition([[7, 7, 7, 7, 7], [1, 2, 3, 1, 2, 3], [4]])).toBeCloseTo(11 / 36, 12);
  });

  test('is 0 for responses of fewer than three tokens and for those of one 3-gram', () => {
    expect(repetition([[], [1], [1, 1], [1, 1, 1]])).toBe(0);
  });

  test('keeps ids apart whose digits run together', () => {
    expect(repetition([[1, 11, 1, 111, 1, 1]])).toBe(0);
  });

  test('counts, for each 3-gram, whether an earlier one is equal', () => {
    const responses = fc.array(fc.nat(2), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(responses, (tokens) => {
        const grams = tokens.slice(2).map((_, t) => tokens.slice(t, t + 3).join());
        const again = grams.filter((gram, t) => grams.indexOf(gram) < t);
        expect(repetition([tokens])).toBeCloseTo(again.length / grams.length, 12);
      }),
    );
  });
});

describe('explainedVariance()', () => {
  test('gives the hand-worked number', () => {
    expect(explainedVariance([0, 2, 4], [1, 2, 3])).toBeCloseTo(0.75, 12);
  });

  test('is 1 for perfect values, 0 for constant ones and below 0 for opposite ones', () => {
    expect(explainedVariance([1, 2, 5], [1, 2, 5])).toBe(1);
    expect(explainedVariance([1, 2, 5], [8, 8, 8])).toBeCloseTo(0, 12);
    expect(explainedVariance([1, 2, 3], [3, 2, 1])).toBeCloseTo(-3, 12);
  });

  test('is NaN where all returns are equal', () => {
    expect(explainedVariance([0.1, 0.1, 0.1], [1, 3, 2])).toBeNaN();
  });

  test('does not change when the values are all off by the same amount', () => {
    fc.assert(
      fc.property(pairs, fc.integer({ min: -50, max: 50 }), (both, shift) => {
        const returns = both.map(([g]) => Math.round(g));
        fc.pre(new Set(returns).size > 1);
        const values = both.map(([, v]) => Math.round(v));
        const shifted = values.map((v) => v + shift);
        const plain = explainedVariance(returns, values);
        const difference = Math.abs(explainedVariance(returns, shifted) - plain);
        expect(difference).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(plain)));
      }),
    );
  });
});
