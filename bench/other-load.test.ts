import { expect, it } from 'vitest';
import { otherCores, processSeconds } from './other-load.ts';

it('processSeconds() adds user and system time, also if the name has spaces and parentheses', () => {
  const stat = '42 (node (a b) S) S 1 42 42 0 -1 4194304 10 11 12 13 150 50 7 8 20 0 4 0 99';
  expect(processSeconds(stat)).toBe(2);
});

it('otherCores() leaves out the time of our processes', () => {
  const before = { wall: 5, busy: 100, own: 30 };
  expect(otherCores(before, { wall: 15, busy: 119, own: 42 })).toBeCloseTo(0.7, 12);
});
