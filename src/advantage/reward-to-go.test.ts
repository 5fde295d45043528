import { expect, test } from 'vitest';
import { returnsOf, rewardToGo } from './reward-to-go.ts';

test('returnsOf() gives the hand-worked numbers', () => {
  const returns = returnsOf(Float32Array.of(0.125, 0.25, 0.5), Float32Array.of(0.5, 0.5, 0.5));
  expect([...returns]).toEqual([0.625, 0.75, 1]);
});

test('returnsOf() refuses values that are not one for each advantage', () => {
  expect(() => returnsOf(Float32Array.of(1, 2), Float32Array.of(1))).toThrow(
    'Cannot compute returns: values must have 2 elements, got 1',
  );
});

test('rewardToGo() gives the hand-worked numbers and stops at the end of a sequence', () => {
  const rewards = Float32Array.of(4, 0, 2, 6, 2);
  const returns = rewardToGo(rewards, { offsets: Int32Array.of(0, 3, 5), gamma: 0.5 });
  expect([...returns]).toEqual([4.5, 1, 2, 7, 2]);
});

test('rewardToGo() refuses rewards that are not one for each step', () => {
  const options = { offsets: Int32Array.of(0, 3), gamma: 1 };
  expect(() => rewardToGo(Float32Array.of(1), options)).toThrow(
    'Cannot add up a sequence: x must have 3 elements, got 1',
  );
});
