import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combinations } from './combinations.ts';

describe('combinations()', () => {
  it('gives the pairs of four, those without a common place first', () => {
    expect([...combinations(4, 2)]).toEqual([
      [0, 1],
      [2, 3],
      [1, 2],
      [3, 0],
      [0, 2],
      [1, 3],
    ]);
  });

  it('gives each of some alone, and nothing of too few', () => {
    expect([...combinations(3, 1)]).toEqual([[0], [1], [2]]);
    expect([...combinations(1, 1)]).toEqual([[0]]);
    expect([...combinations(3, 3)]).toEqual([[0, 1, 2]]);
    expect([...combinations(1, 2)]).toEqual([]);
  });

  it('never repeats a set or a place in it, and gives every pair', () => {
    const sizes = fc.record({
      k: fc.integer({ min: 1, max: 12 }),
      n: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(sizes, ({ k, n }) => {
        const sets = [...combinations(k, n)];
        expect(sets.every((places) => new Set(places).size === n)).toBe(true);
        expect(sets.flat().every((place) => place >= 0 && place < k)).toBe(true);
        const keys = sets.map((places) => places.toSorted((a, b) => a - b).join());
        expect(new Set(keys).size).toBe(sets.length);
        if (n === 2) expect(sets).toHaveLength((k * (k - 1)) / 2);
        if (n <= k) expect(new Set(sets.flat()).size).toBe(k);
      }),
    );
  });
});
