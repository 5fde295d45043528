import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCut, orderOf } from './cut.ts';

const bitsOf = (...scores: number[]) => new Int32Array(Float32Array.from(scores).buffer);
const rankOf = (score: number) => orderOf(bitsOf(score)[0]!);

test('orderOf() ranks float32 numbers as they are', () => {
  const score = fc.float({ noNaN: true });
  fc.assert(
    fc.property(score, score, (a, b) => {
      if (a !== b) expect(rankOf(a) > rankOf(b)).toBe(a > b);
    }),
  );
  expect(rankOf(-Infinity)).toBeLessThan(rankOf(-3.4e38));
  expect(rankOf(-1e-45)).toBeLessThan(rankOf(0));
});

test('findCut() counts down to the k-th largest score', () => {
  const bits = bitsOf(3, 1, 5, 3);
  const cut = (target: number) => findCut(bits, { length: 4, target });
  expect(cut(1)).toEqual({ order: rankOf(5), above: 0 });
  expect(cut(2)).toEqual({ order: rankOf(3), above: 1 });
  expect(cut(3)).toEqual({ order: rankOf(3), above: 1 });
  expect(cut(4)).toEqual({ order: rankOf(1), above: 3 });
  expect(cut(5)).toEqual({ order: rankOf(1), above: 3 });
});

test('findCut() sums weights down to the target', () => {
  const bits = bitsOf(-2, 0.5, -1, 7);
  const weights = Float64Array.of(0.125, 0.25, 0.125, 0.5);
  const cut = (target: number) => findCut(bits, { length: 4, weights, target });
  expect(cut(0.5)).toEqual({ order: rankOf(7), above: 0 });
  expect(cut(0.51)).toEqual({ order: rankOf(0.5), above: 0.5 });
  expect(cut(0.875)).toEqual({ order: rankOf(-1), above: 0.75 });
  expect(cut(0.876)).toEqual({ order: rankOf(-2), above: 0.875 });
  expect(cut(2)).toEqual({ order: rankOf(-2), above: 0.875 });
});

test('findCut() looks at the first scores alone', () => {
  const { order } = findCut(bitsOf(1, 2, 9), { length: 2, target: 1 });
  expect(order).toBe(rankOf(2));
});

test('findCut() equals sorting, whatever the scores', () => {
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
      expect(findCut(bitsOf(...scores), { length: scores.length, target: k })).toEqual({
        order: rankOf(kth),
        above: scores.filter((value) => value > kth).length,
      });
    }),
  );
});
