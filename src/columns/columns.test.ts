import { expect, test } from 'vitest';
import {
  concatFloats,
  concatInts,
  expectLengths,
  lengthsOf,
  offsetsOf,
  splitByLengths,
  splitByOffsets,
} from './columns.ts';

test('concatFloats() and concatInts() copy arrays end to end', () => {
  const parts = [[1, 2], [], [3]];
  const floats = parts.map((part) => Float32Array.from(part));
  const joined = concatFloats(floats);
  expect(joined).toEqual(Float32Array.of(1, 2, 3));
  floats[0]![0] = 9;
  expect(joined[0]).toBe(1);
  expect(concatInts(parts.map((part) => Int32Array.from(part)))).toEqual(Int32Array.of(1, 2, 3));
});

test('offsetsOf() returns starts and the end, and lengthsOf() inverts it', () => {
  expect(offsetsOf([2, 0, 1])).toEqual(Int32Array.of(0, 2, 2, 3));
  expect(offsetsOf([])).toEqual(Int32Array.of(0));
  expect(lengthsOf(Int32Array.of(0, 2, 2, 3))).toEqual([2, 0, 1]);
  expect(lengthsOf(Int32Array.of(0))).toEqual([]);
});

test('splitByOffsets() and splitByLengths() return views of the column', () => {
  const column = Float32Array.of(1, 2, 3);
  const expected = [Float32Array.of(1, 2), new Float32Array(0), Float32Array.of(3)];
  expect(splitByOffsets(column, Int32Array.of(0, 2, 2, 3))).toEqual(expected);
  const parts = splitByLengths(column, [2, 0, 1]);
  expect(parts).toEqual(expected);
  parts[2]![0] = 7;
  expect(column[2]).toBe(7);
});

test('expectLengths() names the first column whose length differs', () => {
  const options = { action: 'compute returns', length: 2 };
  expect(() => expectLengths({ values: [1, 2], rewards: [1] }, options)).toThrow(
    'Cannot compute returns: rewards must have 2 elements, got 1; pass columns of equal length',
  );
  expect(() => expectLengths({ values: [1, 2] }, options)).not.toThrow();
});
