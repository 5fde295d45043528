import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findThreshold, rankOf, topIndices } from './candidates.ts';

const bitsOf = (...scores: number[]) => new Int32Array(Float32Array.from(scores).buffer);
const rank = (score: number) => rankOf(bitsOf(score)[0]!);

test('rankOf() orders float32 numbers by value', () => {
  const score = fc.float({ noNaN: true });
  fc.assert(
    fc.property(score, score, (a, b) => {
      if (a !== b) expect(rank(a) > rank(b)).toBe(a > b);
    }),
  );
  expect(rank(-Infinity)).toBeLessThan(rank(-3.4e38));
  expect(rank(-1e-45)).toBeLessThan(rank(0));
});

test('findThreshold() counts down to the k-th largest score', () => {
  const bits = bitsOf(3, 1, 5, 3);
  const threshold = (target: number) => findThreshold(bits, { length: 4, target });
  expect(threshold(1)).toEqual({ rank: rank(5), above: 0 });
  expect(threshold(2)).toEqual({ rank: rank(3), above: 1 });
  expect(threshold(3)).toEqual({ rank: rank(3), above: 1 });
  expect(threshold(4)).toEqual({ rank: rank(1), above: 3 });
  expect(threshold(5)).toEqual({ rank: rank(1), above: 3 });
});

test('findThreshold() sums weights down to the target', () => {
  const bits = bitsOf(-2, 0.5, -1, 7);
  const weights = Float64Array.of(0.125, 0.25, 0.125, 0.5);
  const threshold = (target: number) => findThreshold(bits, { length: 4, weights, target });
  expect(threshold(0.5)).toEqual({ rank: rank(7), above: 0 });
  expect(threshold(0.51)).toEqual({ rank: rank(0.5), above: 0.5 });
  expect(threshold(0.875)).toEqual({ rank: rank(-1), above: 0.75 });
  expect(threshold(0.876)).toEqual({ rank: rank(-2), above: 0.875 });
  expect(threshold(2)).toEqual({ rank: rank(-2), above: 0.875 });
});

test('findThreshold() considers only the first `length` scores', () => {
  const threshold = findThreshold(bitsOf(1, 2, 9), { length: 2, target: 1 });
  expect(threshold.rank).toBe(rank(2));
});

test('findThreshold() equals sorting for any scores', () => {
  const score = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.constantFrom(0, 1, -1),
  );
  fc.assert(
    fc.property(fc.array(score, { minLength: 1, maxLength: 60 }), fc.nat(59), (list, at) => {
      const scores = list.map((value) => Math.fround(value + 0));
      const k = 1 + (at % scores.length);
      const kth = scores.toSorted((a, b) => b - a)[k - 1]!;
      expect(findThreshold(bitsOf(...scores), { length: scores.length, target: k })).toEqual({
        rank: rank(kth),
        above: scores.filter((value) => value > kth).length,
      });
    }),
  );
});

test('topIndices() returns the largest first, equal ones in order, and never −∞', () => {
  const scores = Float32Array.of(1, 3, -Infinity, 3, 2);
  expect([...topIndices(scores, 3)]).toEqual([1, 3, 4]);
  expect([...topIndices(scores, 9)]).toEqual([1, 3, 4, 0]);
  expect([...topIndices(scores, 0)]).toEqual([]);
});

test('topIndices() is the start of a stable sort', () => {
  const scores = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 40 });
  fc.assert(
    fc.property(scores, fc.nat(45), (numbers, k) => {
      const sorted = numbers.map((_, i) => i).sort((a, b) => numbers[b]! - numbers[a]! || a - b);
      expect([...topIndices(Float32Array.from(numbers), k)]).toEqual(sorted.slice(0, k));
    }),
  );
});
