import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planBlocks } from './attention-blocks.ts';
import { causalBias, keyTable, queryTable, realQueries } from './batch-plan.ts';
import { consecutiveRows } from './row-layout.ts';

const heads = fc.integer({ min: 1, max: 4 });
const lengths = fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 5 });

/** A unique number per row and head. */
const label = (row: number, h: number) => row * 100 + h;

/** Sequences end to end, with blocks for wide heads. */
function packSequences(all: readonly number[]) {
  const rows = consecutiveRows(all);
  return { rows, blocks: planBlocks(rows, { width: 100_000 }), known: 0 };
}

/** Labels of all rows, the heads of a row next to each other. */
function labelsOf(count: number, headCount: number): number[] {
  return Array.from({ length: count * headCount }, (_, i) =>
    label(Math.floor(i / headCount), i % headCount),
  );
}

describe('queryTable() and keyTable()', () => {
  // Tokens a b c | d in one block, two heads.
  const one = {
    rows: consecutiveRows([3, 1]),
    blocks: [
      {
        spans: [
          { sequence: 0, start: 0, end: 3 },
          { sequence: 1, start: 0, end: 1 },
        ],
        queries: 3,
        keys: 3,
      },
    ],
    known: 0,
  };

  test('map the tokens of two sequences to their places and back', () => {
    const { unpack, places, copies } = queryTable(one, 2);
    expect([...unpack]).toEqual([0, 2, 4, 1, 3, 5, 6, 0, 0, 7, 1, 1]);
    expect([...places]).toEqual([0, 3, 1, 4, 2, 5, 6, 9]);
    expect(copies).toBe(1);
    expect(keyTable(one, 2)).toEqual(queryTable(one, 2));
  });

  test('count queries from the first unknown row, and keys from the first row', () => {
    // A sequence of two tokens, of which the first is known.
    const rows = [Int32Array.of(0, 1)];
    const blocks = [{ spans: [{ sequence: 0, start: 1, end: 2 }], queries: 1, keys: 2 }];
    expect([...queryTable({ rows, blocks, known: 1 }, 1).unpack]).toEqual([0]);
    expect([...keyTable({ rows, blocks, known: 1 }, 1).unpack]).toEqual([0, 1]);
  });

  test('a key that several blocks see has a place in each block', () => {
    const rows = [Int32Array.of(0, 1)];
    const spans = [
      { sequence: 0, start: 0, end: 1 },
      { sequence: 0, start: 1, end: 2 },
    ];
    const blocks = spans.map((span, i) => ({ spans: [span], queries: 1, keys: i + 1 }));
    const { unpack, places, copies } = keyTable({ rows, blocks, known: 0 }, 1);
    expect([...unpack]).toEqual([0, 0, 1]);
    expect(copies).toBe(2);
    expect([...places]).toEqual([0, 2, 1, -1]);
  });

  test('put head h of query t of span b at [b, h, t] of its block', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const { rows, blocks, known } = packSequences(all);
        const { unpack } = queryTable({ rows, blocks, known }, headCount);
        const expected = blocks.flatMap(({ spans, queries }) =>
          spans.flatMap(({ sequence, start, end }) =>
            Array.from({ length: headCount * queries }, (_, i) => {
              const [h, t] = [Math.floor(i / queries), i % queries];
              return (start + t < end ? rows[sequence]![start + t]! : 0) * headCount + h;
            }),
          ),
        );
        expect([...unpack]).toEqual(expected);
      }),
    );
  });

  test('the place of a query refers to its row', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const { unpack, places, copies } = queryTable(packSequences(all), headCount);
        const labels = labelsOf(places.length / headCount, headCount);
        expect(copies).toBe(1);
        expect(Array.from(places, (place) => labels[unpack[place]!])).toEqual(labels);
      }),
    );
  });

  test('the places of a key are all places that contain it, except padding', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const blocks = packSequences(all);
        const { unpack, places, copies } = keyTable(blocks, headCount);
        const rowsAndHeads = places.length / copies;
        const real = places.filter((place) => place >= 0);
        expect(new Set(real).size).toBe(real.length);
        places.forEach((place, i) => {
          if (place >= 0) expect(unpack[place]).toBe(i % rowsAndHeads);
        });
        const seen = blocks.blocks.flatMap(({ spans }) => spans).reduce((sum, s) => sum + s.end, 0);
        expect(real.length).toBe(headCount * seen);
      }),
    );
  });
});

test('causalBias() lets a query see itself and earlier keys', () => {
  const spans = [
    { sequence: 0, start: 1, end: 3 },
    { sequence: 1, start: 0, end: 1 },
  ];
  const x = -1e9;
  expect([...causalBias({ spans, queries: 2, keys: 4 })]).toEqual(
    [
      [0, 0, x, x],
      [0, 0, 0, x],
      [0, x, x, x],
      [0, 0, x, x],
    ].flat(),
  );
});

test('realQueries() distinguishes queries from padding', () => {
  const spans = [
    { sequence: 0, start: 1, end: 3 },
    { sequence: 1, start: 4, end: 5 },
  ];
  expect([...realQueries({ spans, queries: 3, keys: 5 })]).toEqual([1, 1, 0, 1, 0, 0]);
});

test('consecutiveRows() numbers rows end to end', () => {
  expect(consecutiveRows([2, 0, 1])).toEqual([
    Int32Array.of(0, 1),
    new Int32Array(0),
    Int32Array.of(2),
  ]);
});
