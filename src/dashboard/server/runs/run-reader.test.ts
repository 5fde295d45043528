import { expect, test } from 'vitest';
import { StepTimes } from './run-reader.ts';

const steps = (...seconds: readonly number[]) =>
  seconds.map((time, step) => ({ step, 'timing/generate': time / 2, 'timing/update': time / 2 }));

function timesOf(...lists: Parameters<StepTimes['add']>[0][]): StepTimes {
  const times = new StepTimes();
  for (const list of lists) times.add(list);
  return times;
}

test('StepTimes returns the median of the last steps', () => {
  expect(timesOf(steps(2, 900, 3)).seconds).toBe(3);
  expect(timesOf(steps(2), steps(900), steps(3)).seconds).toBe(3);
  const [slow, fast] = [steps(...Array(30).fill(100)), steps(...Array(20).fill(1))];
  expect(timesOf([...slow, ...fast]).seconds).toBe(1);
  expect(timesOf(slow, fast).seconds).toBe(1);
});

test('StepTimes ignores negative times and returns null without times', () => {
  expect(timesOf(steps(-3600, 0, 4)).seconds).toBe(4);
  expect(timesOf(steps(-3600)).seconds).toBeNull();
  expect(timesOf([{ step: 1, lr: 3 }]).seconds).toBeNull();
  expect(timesOf().seconds).toBeNull();
});

test('StepTimes forgets earlier steps after a restart', () => {
  const times = timesOf(steps(5, 5, 5));
  times.restart(steps(1));
  expect(times.seconds).toBe(1);
});
