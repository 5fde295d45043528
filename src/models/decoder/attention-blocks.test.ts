import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttentionBlock, planBlocks } from './attention-blocks.ts';
import { consecutiveRows, shareRows } from './row-layout.ts';

const WIDE = 2048;
const NARROW = 64;

const sizes = (blocks: readonly AttentionBlock[]) =>
  blocks.map(({ spans, queries, keys }) => [spans.length, queries, keys]);

describe('planBlocks()', () => {
  test('puts short sequences of equal length into one block', () => {
    const blocks = planBlocks(consecutiveRows([90, 90, 90]), { width: WIDE });
    expect(sizes(blocks)).toEqual([[3, 90, 90]]);
  });

  test('splits a long sequence into spans that see only earlier keys', () => {
    const rows = consecutiveRows([256]);
    expect(sizes(planBlocks(rows, { width: WIDE })).sort()).toEqual([
      [1, 64, 128],
      [1, 64, 192],
      [1, 64, 256],
      [1, 64, 64],
    ]);
    expect(sizes(planBlocks(rows, { width: NARROW }))).toEqual([[1, 256, 256]]);
  });

  test('does not pad short sequences to the length of a long one', () => {
    const blocks = planBlocks(consecutiveRows([20, 200, 22]), { width: WIDE });
    expect(blocks.find(({ keys }) => keys < 30)?.spans).toHaveLength(2);
  });

  test('computes the queries of a shared prompt once', () => {
    // Four sequences of 96 tokens share a prompt of 64.
    const sequences = Array.from({ length: 4 }, (_, b) =>
      Array.from({ length: 96 }, (_, t) => (t < 64 ? t : 1000 * b + t)),
    );
    const { rows } = shareRows(sequences);
    expect(sizes(planBlocks(rows, { width: WIDE })).sort()).toEqual([
      [1, 64, 64],
      [4, 32, 96],
    ]);
  });

  test('has no queries for known rows', () => {
    const rows = [Int32Array.of(0, 1, 3, 4), Int32Array.of(0, 1, 5), Int32Array.of(2, 6)];
    const [block] = planBlocks(rows, { known: 3, width: WIDE });
    expect(block).toEqual({
      spans: [
        { sequence: 0, start: 2, end: 4 },
        { sequence: 1, start: 2, end: 3 },
        { sequence: 2, start: 1, end: 2 },
      ],
      queries: 2,
      keys: 4,
    });
  });

  const lengths = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 });
  const widths = fc.constantFrom(NARROW, 512, WIDE, 100_000);

  test('every row is a query once, in few blocks that are large enough for their spans', () => {
    fc.assert(
      fc.property(lengths, widths, (all, width) => {
        const rows = consecutiveRows(all);
        const blocks = planBlocks(rows, { width });
        expect([1, 2, 4, 8]).toContain(blocks.length);
        const queryRows = blocks.flatMap(({ spans, queries, keys }) =>
          spans.flatMap(({ sequence, start, end }) => {
            expect(end - start).toBeLessThanOrEqual(queries);
            expect(end).toBeLessThanOrEqual(keys);
            return [...rows[sequence]!.subarray(start, end)];
          }),
        );
        const total = all.reduce((a, b) => a + b);
        expect(queryRows.sort((a, b) => a - b)).toEqual([...Array(total).keys()]);
      }),
    );
  });

  test('computes at most 1.5 times as many scores as one padded block', () => {
    fc.assert(
      fc.property(lengths, widths, (all, width) => {
        const area = sizes(planBlocks(consecutiveRows(all), { width })).reduce(
          (sum, [count, queries, keys]) => sum + count! * queries! * keys!,
          0,
        );
        expect(area).toBeLessThanOrEqual(1.5 * all.length * Math.max(...all) ** 2);
      }),
    );
  });
});
