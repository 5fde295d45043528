import { expect, test } from 'vitest';
import { tdErrors } from './td-error.ts';

test('tdErrors() gives the hand-worked numbers', () => {
  const errors = tdErrors(Float32Array.of(1, 2), Float32Array.of(4, 2), {
    offsets: Int32Array.of(0, 2),
    gamma: 0.5,
  });
  expect([...errors]).toEqual([-2, 0]);
});

test('tdErrors() sees no value of the next sequence', () => {
  const errors = tdErrors(Float32Array.of(1, 2, 5), Float32Array.of(4, 2, 100), {
    offsets: Int32Array.of(0, 2, 2, 3),
    gamma: 0.5,
  });
  expect([...errors]).toEqual([-2, 0, -95]);
});

test('tdErrors() refuses values that are not one for each reward', () => {
  const options = { offsets: Int32Array.of(0, 2), gamma: 1 };
  expect(() => tdErrors(Float32Array.of(1, 2), Float32Array.of(4), options)).toThrow(
    'Cannot compute TD errors: values must have 2 elements, got 1; pass columns of equal length',
  );
});
