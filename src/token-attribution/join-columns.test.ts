import { expect, test } from 'vitest';
import { joinFloats, joinInts, offsetsOf } from './join-columns.ts';

test('joinFloats() and joinInts() put arrays end to end', () => {
  const parts = [[1, 2], [], [3]];
  expect(joinFloats(parts.map((part) => Float32Array.from(part)))).toEqual(
    Float32Array.of(1, 2, 3),
  );
  expect(joinInts(parts.map((part) => Int32Array.from(part)))).toEqual(Int32Array.of(1, 2, 3));
});

test('offsetsOf() gives the hand-worked starts', () => {
  expect(offsetsOf([2, 0, 1])).toEqual(Int32Array.of(0, 2, 2, 3));
  expect(offsetsOf([])).toEqual(Int32Array.of(0));
});
