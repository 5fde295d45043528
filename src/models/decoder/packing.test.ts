import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  causalBias,
  consecutiveRows,
  cutStripes,
  packingTables,
  placesOfRows,
  realPlaces,
} from './packing.ts';

const heads = fc.integer({ min: 1, max: 4 });
/** Lengths of sequences, at least one of which has a token. */
const lengths = fc
  .array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 })
  .filter((all) => all.some((length) => length > 0));

/** A number for each token and head: sequence, position, head. */
const label = (b: number, t: number, h: number) => b * 10_000 + t * 100 + h;

/** Every token's labels, sequence after sequence, the heads of a token side by side. */
function packedLabels(all: readonly number[], headCount: number): number[] {
  return all
    .flatMap((length, b) =>
      Array.from({ length }, (_, t) => Array.from({ length: headCount }, (_, h) => label(b, t, h))),
    )
    .flat();
}

/** Sequences end to end, padded to the longest. */
const tablesOf = (all: readonly number[], headCount: number) =>
  packingTables({ rows: consecutiveRows(all), length: Math.max(...all) }, headCount);

const gather = <T>(rows: readonly T[], index: Int32Array): (T | undefined)[] =>
  Array.from(index, (row) => rows[row]);

describe('packingTables()', () => {
  test('leads tokens of two sequences to their places and back', () => {
    // Tokens a b c | d, two heads: padded [B=2, heads=2, T=3].
    const { unpack, pack } = tablesOf([3, 1], 2);
    expect([...unpack]).toEqual([0, 2, 4, 1, 3, 5, 6, 0, 0, 7, 1, 1]);
    expect([...pack]).toEqual([0, 3, 1, 4, 2, 5, 6, 9]);
  });

  test('puts head h of token t of sequence b at [b, h, t]', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const longest = Math.max(...all);
        const padded = gather(packedLabels(all, headCount), tablesOf(all, headCount).unpack);
        expect(padded).toHaveLength(all.length * headCount * longest);
        all.forEach((length, b) => {
          for (let h = 0; h < headCount; h++) {
            for (let t = 0; t < length; t++) {
              expect(padded[(b * headCount + h) * longest + t]).toBe(label(b, t, h));
            }
          }
        });
      }),
    );
  });

  test('pack after unpack changes nothing', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const { unpack, pack } = tablesOf(all, headCount);
        const packed = packedLabels(all, headCount);
        expect(gather(gather(packed, unpack), pack)).toEqual(packed);
      }),
    );
  });

  test('pack reads no padding, and each other place once', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const longest = Math.max(...all);
        const { pack } = tablesOf(all, headCount);
        const real = all.flatMap((length, b) =>
          Array.from({ length: headCount * longest }, (_, i) => b * headCount * longest + i).filter(
            (place) => place % longest < length,
          ),
        );
        expect([...pack].sort((a, b) => a - b)).toEqual(real);
      }),
    );
  });

  test('padding holds a token’s row of the same head, so that it can be computed with', () => {
    fc.assert(
      fc.property(lengths, heads, (all, headCount) => {
        const longest = Math.max(...all);
        const padded = gather(packedLabels(all, headCount), tablesOf(all, headCount).unpack);
        padded.forEach((found, place) => {
          const head = Math.floor(place / longest) % headCount;
          expect((found ?? Number.NaN) % 100).toBe(head);
        });
      }),
    );
  });

  test('of equal lengths have no padding: unpack after pack changes nothing too', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), heads, (length, headCount) => {
        const { unpack, pack } = tablesOf([length, length, length], headCount);
        const places = Array.from(unpack, (_, place) => place);
        expect(gather(gather(places, pack), unpack)).toEqual(places);
      }),
    );
  });
});

describe('rows in common', () => {
  // Rows a b | c and a | d: the first token of both is row 0. Padded to [B=2, heads=1, T=3].
  const padded = { rows: [Int32Array.of(0, 1), Int32Array.of(0, 2)], length: 3 };

  test('stand in every sequence, and are taken from the first', () => {
    const { unpack, pack } = packingTables(padded, 1);
    expect([...unpack]).toEqual([0, 1, 0, 0, 2, 0]);
    expect([...pack]).toEqual([0, 1, 4]);
    expect([...realPlaces(padded)]).toEqual([1, 1, 0, 0, 1, 0]);
  });

  test('have several places; those that have fewer point at padding', () => {
    expect(placesOfRows(padded, 1)).toEqual({ copies: 2, table: Int32Array.of(0, 1, 4, 3, 2, 2) });
  });

  test('have places for each head', () => {
    // [B=2, heads=2, T=3]; padding of head 0 is place 2, of head 1 place 5.
    expect([...placesOfRows(padded, 2).table]).toEqual([0, 3, 1, 4, 7, 10, 6, 9, 2, 5, 2, 5]);
  });
});

describe('causalBias()', () => {
  const hidden = Math.fround(-1e9);

  test('lets a token see itself and what came before', () => {
    const bias = causalBias({ start: 0, end: 3 });
    expect([...bias]).toEqual([0, hidden, hidden, 0, 0, hidden, 0, 0, 0]);
  });

  test('of a later stripe hides nothing of earlier ones', () => {
    expect([...causalBias({ start: 2, end: 4 })]).toEqual([0, 0, 0, hidden, 0, 0, 0, 0]);
  });

  test('of stripes is that of the whole, without what no query sees', () => {
    const whole = causalBias({ start: 0, end: 7 });
    for (const { start, end } of cutStripes(7, 3)) {
      const bias = causalBias({ start, end });
      for (let t = start; t < end; t++) {
        const row = [...bias.subarray((t - start) * end, (t - start + 1) * end)];
        expect(row).toEqual([...whole.subarray(t * 7, t * 7 + end)]);
      }
    }
  });
});

test('cutStripes() covers all queries, in stripes that differ by one at most', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 8 }),
      (length, count) => {
        const stripes = cutStripes(length, count);
        expect(stripes.map(({ start }) => start)).toEqual([
          0,
          ...stripes.slice(0, -1).map(({ end }) => end),
        ]);
        expect(stripes.at(-1)?.end).toBe(length);
        const sizes = stripes.map(({ start, end }) => end - start);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      },
    ),
  );
});
