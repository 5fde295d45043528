import { expect, test } from 'vitest';
import { stepSeconds } from './step-seconds.ts';

const steps = (...seconds: readonly number[]) =>
  seconds.map((time, step) => ({ step, 'timing/generate': time / 2, 'timing/update': time / 2 }));

test('stepSeconds() is the median of the times of the last steps', () => {
  expect(stepSeconds(steps(2, 900, 3))).toBe(3);
  expect(stepSeconds(steps(...Array.from({ length: 30 }, () => 100), ...Array(20).fill(1)))).toBe(
    1,
  );
});

test('stepSeconds() passes over times of clocks that jumped, and knows nothing of steps without times', () => {
  expect(stepSeconds(steps(-3600, 0, 4))).toBe(4);
  expect(stepSeconds(steps(-3600))).toBeNull();
  expect(stepSeconds([{ step: 1, lr: 3 }])).toBeNull();
  expect(stepSeconds([])).toBeNull();
});
