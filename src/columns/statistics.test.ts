import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  explainedVariance,
  mean,
  meanInterval,
  proportionInterval,
  standardDeviation,
} from './statistics.ts';

const number = fc.double({ min: -1e3, max: 1e3, noNaN: true });
const pairs = fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 12 });

describe('intervals', () => {
  test('of a mean: 2 ± 1.96·√2/√2', () => {
    const [low, high] = meanInterval([1, 3]);
    expect([low, high].map((x) => Number(x.toFixed(4)))).toEqual([0.04, 3.96]);
    expect(meanInterval([5])).toEqual([Number.NaN, Number.NaN]);
  });

  test('of a proportion have a width at 0 and 1', () => {
    // p = 1, n = 4, c = 3.8415: (1 + c/8 ± c/8)/(1 + c/4) = [1/1.9604, 1].
    const [low, high] = proportionInterval(1, 4);
    expect(low).toBeCloseTo(0.5101, 4);
    expect(high).toBeCloseTo(1, 12);
    const mirrored = proportionInterval(0, 4);
    expect(mirrored[0]).toBeCloseTo(0, 12);
    expect(mirrored[1]).toBeCloseTo(0.4899, 4);
    // p = ½, n = 20: half = √(c/80 + c²/1600)/(1 + c/20) = 0.2007.
    expect(proportionInterval(0.5, 20)[1]).toBeCloseTo(0.7007, 4);
  });
});

describe('mean() and standardDeviation()', () => {
  test('return the hand-worked numbers', () => {
    expect(mean([1, 2, 3, 4])).toBe(2.5);
    expect(standardDeviation([1, 2, 3, 6])).toBeCloseTo(Math.sqrt(14 / 3), 12);
    expect(standardDeviation([1, 2, 3, 6])).toBeCloseTo(2.1602, 4);
  });

  test('a single number has standard deviation 0', () => {
    expect(standardDeviation([5])).toBe(0);
  });

  test('equal numbers have a standard deviation of exactly 0', () => {
    expect(standardDeviation([0.1, 0.1, 0.1])).toBe(0);
  });

  test('no numbers have no mean', () => {
    expect(() => mean([])).toThrow('Internal: the mean of no numbers');
  });
});

describe('explainedVariance()', () => {
  test('returns the hand-worked number', () => {
    expect(explainedVariance([0, 2, 4], [1, 2, 3])).toBeCloseTo(0.75, 12);
  });

  test('is 1 for perfect values, 0 for constant ones and below 0 for opposite ones', () => {
    expect(explainedVariance([1, 2, 5], [1, 2, 5])).toBe(1);
    expect(explainedVariance([1, 2, 5], [8, 8, 8])).toBeCloseTo(0, 12);
    expect(explainedVariance([1, 2, 3], [3, 2, 1])).toBeCloseTo(-3, 12);
  });

  test('is NaN if all returns are equal', () => {
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
