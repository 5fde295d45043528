import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareRows } from './row-layout.ts';

const beginning = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('shareRows()', () => {
  test('gives a common beginning once', () => {
    const { rows, count } = shareRows([
      [...beginning, 10],
      [...beginning, 11],
    ]);
    expect(rows.map((places) => [...places])).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
    ]);
    expect(count).toBe(11);
  });

  test('finds a beginning that does not stand right before', () => {
    const { rows, count } = shareRows([[...beginning, 10], [20, 21], [...beginning]]);
    expect([...rows[2]!]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(count).toBe(12);
  });

  test('leaves sequences of few tokens alone', () => {
    expect(shareRows([beginning.slice(0, 7), beginning.slice(0, 7)]).count).toBe(14);
  });

  test('takes the sequence with most in common, and nothing where that is less than half', () => {
    const far = [...beginning, ...Array.from({ length: 11 }, (_, t) => 50 + t)];
    const near = [...beginning, 30, 31, 32];
    const { rows, count } = shareRows([far, near, [...beginning, 30, 31, 33]]);
    expect([...rows[2]!.subarray(9)]).toEqual([20, 21, 23]);
    expect(count).toBe(20 + 3 + 1);
    expect(shareRows([near, far]).count).toBe(12 + 20);
  });

  test('leads every place to its token, behind the tokens before it', () => {
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
        const behind = new Map<number, string>();
        for (const [b, places] of rows.entries()) {
          for (const [t, row] of places.entries()) {
            const text = sequences[b]!.slice(0, t + 1).join();
            expect(behind.get(row) ?? text).toBe(text);
            behind.set(row, text);
          }
        }
        expect([...behind.keys()].sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, row) => row),
        );
      }),
    );
  });
});
