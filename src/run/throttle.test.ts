import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Throttle } from './throttle.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** The times at which something is done that is asked for at some times, in milliseconds. */
function timesOf(asked: readonly number[], { stopAt = Infinity } = {}): number[] {
  const done: number[] = [];
  const start = Date.now();
  const throttle = new Throttle(() => done.push(Date.now() - start), 1000);
  for (const time of asked) setTimeout(() => throttle.ask(), time);
  if (stopAt < Infinity) setTimeout(() => throttle.stop(), stopAt);
  vi.runAllTimers();
  return done;
}

test('Throttle does a thing at once, and what comes after it at the end of the interval', () => {
  expect(timesOf([0, 100, 200, 5000])).toEqual([0, 1000, 5000]);
  expect(timesOf([0, 999, 1500, 2500])).toEqual([0, 1000, 2000, 3000]);
});

test('Throttle forgets what was asked for when it is stopped', () => {
  expect(timesOf([0, 100], { stopAt: 200 })).toEqual([0]);
});
