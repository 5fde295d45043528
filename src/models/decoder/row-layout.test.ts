import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareRows } from './row-layout.ts';

const prefix = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('shareRows()', () => {
  test('stores a shared prefix once', () => {
    const { rows, count } = shareRows([
      [...prefix, 10],
      [...prefix, 11],
    ]);
    expect(rows.map((places) => [...places])).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
    ]);
    expect(count).toBe(11);
  });

  test('finds a prefix in any earlier sequence', () => {
    const { rows, count } = shareRows([[...prefix, 10], [20, 21], [...prefix]]);
    expect([...rows[2]!]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(count).toBe(12);
  });

  test('does not share short prefixes', () => {
    expect(shareRows([prefix.slice(0, 7), prefix.slice(0, 7)]).count).toBe(14);
  });

  test('shares with the sequence that has the longest shared prefix, if that is at least half', () => {
    const far = [...prefix, ...Array.from({ length: 11 }, (_, t) => 50 + t)];
    const near = [...prefix, 30, 31, 32];
    const { rows, count } = shareRows([far, near, [...prefix, 30, 31, 33]]);
    expect([...rows[2]!.subarray(9)]).toEqual([20, 21, 23]);
    expect(count).toBe(20 + 3 + 1);
    expect(shareRows([near, far]).count).toBe(12 + 20);
  });

  test('maps every position to a row with the same token and the same earlier tokens', () => {
    const token = fc.integer({ min: 0, max: 2 });
    const prompts = fc.array(fc.array(token, { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 3,
    });
    const tails = fc.array(fc.tuple(fc.nat(2), fc.array(token, { minLength: 1, maxLength: 4 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(prompts, tails, (starts, ends) => {
        const sequences = ends.map(([i, end]) => [...starts[i % starts.length]!, ...end]);
        const { rows, count } = shareRows(sequences);
        const prefixOfRow = new Map<number, string>();
        for (const [b, places] of rows.entries()) {
          for (const [t, row] of places.entries()) {
            const prefixText = sequences[b]!.slice(0, t + 1).join();
            expect(prefixOfRow.get(row) ?? prefixText).toBe(prefixText);
            prefixOfRow.set(row, prefixText);
          }
        }
        expect([...prefixOfRow.keys()].sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, row) => row),
        );
      }),
    );
  });
});
