import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { expOfNonPositive } from './exp.ts';

test('expOfNonPositive() equals Math.exp to 1e-14', () => {
  let worst = 0;
  const check = (x: number) => {
    const wanted = Math.exp(x);
    worst = Math.max(worst, Math.abs(expOfNonPositive(x) - wanted) / wanted);
  };
  for (let x = 0; x > -40; x -= 0.000317) check(x);
  expect(worst).toBeLessThan(1e-14);
  fc.assert(fc.property(fc.double({ min: -708, max: 0, noNaN: true }), check));
  expect(worst).toBeLessThan(1e-13);
});

test('expOfNonPositive() is exact at 0 and ends in 0', () => {
  expect(expOfNonPositive(0)).toBe(1);
  expect(expOfNonPositive(-0)).toBe(1);
  expect(expOfNonPositive(-Number.MIN_VALUE)).toBe(1);
  for (const x of [-709, -1e6, -1e300, -Infinity]) expect(expOfNonPositive(x)).toBe(0);
  expect(expOfNonPositive(Number.NaN)).toBeNaN();
});
