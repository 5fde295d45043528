import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { topIndices } from './top-indices.ts';

test('topIndices() gives the largest first, of equal ones the first, and never −∞', () => {
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
