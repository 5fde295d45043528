import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignColours } from './assign-colours.ts';

describe('assignColours()', () => {
  test('a run keeps its colour while it is drawn, and gives it back after', () => {
    const first = assignColours(new Map(), ['a']);
    expect([...first]).toEqual([['a', 0]]);
    expect(Object.fromEntries(assignColours(first, ['b', 'a']))).toEqual({ a: 0, b: 1 });
    expect(Object.fromEntries(assignColours(first, ['b', 'c']))).toEqual({ b: 0, c: 1 });
  });

  test('no two drawn runs have the same place', () => {
    const ids = fc.uniqueArray(fc.string());
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const places = assignColours(assignColours(new Map(), before), after);
        expect(new Set(places.values()).size).toBe(after.length);
      }),
    );
  });
});
