import { expect, test } from 'vitest';
import { callWithin } from './time-limit.ts';

const limits = { limit: 50, explain: () => new RangeError('too slow') };

test('callWithin() stops a pattern that would take years, and one that follows', () => {
  for (let i = 0; i < 2; i++) {
    expect(() => callWithin(() => /^(x+x+)+y/.test('x'.repeat(60)), limits)).toThrow(
      new RangeError('too slow'),
    );
  }
});

test('callWithin() returns the result and passes errors on', () => {
  const list = [1];
  expect(callWithin(() => list, limits)).toBe(list);
  const error = new TypeError('no');
  const fail = () => {
    throw error;
  };
  expect(() => callWithin(fail, limits)).toThrow(error);
});
