import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignColours, zoomRange } from './chart-view.ts';

const whole = { min: 0, max: 100 };

describe('zoomRange()', () => {
  test('keeps the step under the cursor in place', () => {
    expect(zoomRange(whole, { whole, at: 50, factor: 0.5 })).toEqual({ min: 25, max: 75 });
    expect(zoomRange(whole, { whole, at: 0, factor: 0.5 })).toEqual({ min: 0, max: 50 });
    expect(zoomRange({ min: 25, max: 75 }, { whole, at: 30, factor: 2 })).toBeUndefined();
  });

  test('stays within the whole interval', () => {
    const part = fc.tuple(fc.nat(100), fc.nat(100)).map(([a, b]) => ({
      min: Math.min(a, b),
      max: Math.max(a, b),
    }));
    fc.assert(
      fc.property(part, fc.nat(100), fc.constantFrom(0.5, 2), (now, at, factor) => {
        const range = zoomRange(now, { whole, at, factor });
        if (range === undefined) return;
        expect(range.min).toBeGreaterThanOrEqual(0);
        expect(range.max).toBeLessThanOrEqual(100);
        expect(range.max).toBeGreaterThan(range.min);
      }),
    );
  });
});

describe('assignColours()', () => {
  test('a run keeps its colour while it is drawn and frees it afterwards', () => {
    const first = assignColours(new Map(), ['a']);
    expect([...first]).toEqual([['a', 0]]);
    expect(Object.fromEntries(assignColours(first, ['b', 'a']))).toEqual({ a: 0, b: 1 });
    expect(Object.fromEntries(assignColours(first, ['b', 'c']))).toEqual({ b: 0, c: 1 });
  });

  test('no two drawn runs have the same colour index', () => {
    const ids = fc.uniqueArray(fc.string());
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const places = assignColours(assignColours(new Map(), before), after);
        expect(new Set(places.values()).size).toBe(after.length);
      }),
    );
  });
});
