import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smooth } from './smooth.ts';

const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe('smooth()', () => {
  test('gives the hand-worked numbers', () => {
    const [first, gap, last] = smooth([1, null, 3], 0.5);
    expect(first).toBe(1);
    expect(gap).toBeNull();
    expect(last).toBeCloseTo(7 / 3, 12);
  });

  test('leaves numbers as they are at weight 0', () => {
    expect(smooth([4, -1, null, 2], 0)).toEqual([4, -1, null, 2]);
  });

  test('stays within what came before, however heavy the weight', () => {
    fc.assert(
      fc.property(fc.array(number), fc.double({ min: 0, max: 0.99, noNaN: true }), (x, w) => {
        smooth(x, w).forEach((value, n) => {
          const seen = x.slice(0, n + 1);
          expect(value).toBeGreaterThanOrEqual(Math.min(...seen) - 1e-3);
          expect(value).toBeLessThanOrEqual(Math.max(...seen) + 1e-3);
        });
      }),
    );
  });
});
