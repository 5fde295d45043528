import { expect, test } from 'vitest';
import {
  bool,
  float32,
  int32,
  testRejections,
} from '../../../../test/helpers/engine/test-rejections.ts';
import { formatType } from '../value.ts';
import { add, cast, clip, exp, less, where } from './elementwise.ts';

testRejections('elementwise ops reject', [
  [
    'a dtype other than float32',
    () => exp(int32([2])),
    new TypeError('Cannot apply exp: inputs must be float32, got int32[2]'),
  ],
  [
    'different dtypes',
    () => add(float32(['M']), int32(['M'])),
    new TypeError(
      'Cannot apply add: inputs must both be float32 or both int32, got float32[M] and int32[M]',
    ),
  ],
  [
    'booleans',
    () => less(bool([2]), bool([2])),
    new TypeError(
      'Cannot apply less: inputs must both be float32 or both int32, got bool[2] and bool[2]',
    ),
  ],
  [
    'different sizes',
    () => add(float32([2, 3]), float32([2, 4])),
    new TypeError(
      'Cannot apply add: shapes must be equal or 1 on every axis, got float32[2,3] and float32[2,4]',
    ),
  ],
  [
    'different symbols',
    () => add(float32(['B', 2]), float32(['T', 2])),
    new TypeError(
      'Cannot apply add: shapes must be equal or 1 on every axis, got float32[B,2] and float32[T,2]',
    ),
  ],
  [
    'a symbol and a number',
    () => add(float32(['B']), float32([2])),
    new TypeError(
      'Cannot apply add: shapes must be equal or 1 on every axis, got float32[B] and float32[2]',
    ),
  ],
  [
    'integers to clip',
    () => clip(int32([2]), 0, 1),
    new TypeError('Cannot apply clip: inputs must be float32, got int32[2]'),
  ],
  [
    'a condition that is not boolean',
    () => where(float32([2]), float32([2]), float32([2])),
    new TypeError(
      'Cannot apply where: it takes a bool and two tensors of one dtype, got float32[2] and float32[2] and float32[2]',
    ),
  ],
  [
    'branches of two dtypes',
    () => where(bool([2]), float32([2]), int32([2])),
    new TypeError(
      'Cannot apply where: it takes a bool and two tensors of one dtype, got bool[2] and float32[2] and int32[2]',
    ),
  ],
  [
    'a condition that does not broadcast',
    () => where(bool([3]), float32([2]), float32([2])),
    new TypeError(
      'Cannot apply where: shapes must be equal or 1 on every axis, got bool[3] and float32[2] and float32[2]',
    ),
  ],
]);

test('plain numbers take the dtype of the other operand', () => {
  expect(formatType(add(int32([2]), 1))).toBe('int32[2]');
  expect(formatType(add(1, float32([2])))).toBe('float32[2]');
  expect(formatType(where(bool([2]), 0, int32([2])))).toBe('int32[2]');
});

test('a cast to the same dtype adds no op', () => {
  const x = float32([2]);
  expect(cast(x, 'float32')).toBe(x);
});
