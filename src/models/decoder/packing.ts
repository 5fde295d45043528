import type { AttentionBlock } from './attention-blocks.ts';
import { countRows } from './share-rows.ts';

/** Where the rows of a packed batch stand in the blocks of its attention, one row for each head. */
export interface PackedBlocks {
  /** The row of each place of each sequence; sequences with a common beginning may share rows. */
  readonly rows: readonly Int32Array[];
  readonly blocks: readonly AttentionBlock[];
  /** Rows before this one ask nothing. */
  readonly known: number;
}

/** Blocks one after another, each [spans, heads, places]. */
export interface BlockTable {
  /** Row m·heads + h of each place; padding points at row h of the first token. */
  readonly unpack: Int32Array;
  /** Places of each row: [copies, M, heads], with copies the most that a row has; −1 where it has
   *  fewer. */
  readonly places: Int32Array;
  readonly copies: number;
}

/** Index tables of the queries: rows are counted from the first that asks, and each stands once. */
export function queryTable({ rows, blocks, known }: PackedBlocks, heads: number): BlockTable {
  const parts = blocks.flatMap(({ spans, queries }) =>
    spans.map(({ sequence, start, end }) => ({
      rows: rows[sequence]!.subarray(start, end),
      length: queries,
    })),
  );
  return makeTable(parts, { heads, first: known, count: countRows(rows) - known });
}

/** Index tables of keys and values. */
export function keyTable({ rows, blocks }: PackedBlocks, heads: number): BlockTable {
  const parts = blocks.flatMap(({ spans, keys }) =>
    spans.map(({ sequence, end }) => ({ rows: rows[sequence]!.subarray(0, end), length: keys })),
  );
  return makeTable(parts, { heads, first: 0, count: countRows(rows) });
}

/** Rows that are padded to a length. */
interface PaddedRows {
  readonly rows: Int32Array;
  readonly length: number;
}

interface TableSizes {
  readonly heads: number;
  /** The row that counts as 0. */
  readonly first: number;
  readonly count: number;
}

function makeTable(parts: readonly PaddedRows[], { heads, first, count }: TableSizes): BlockTable {
  const size = parts.reduce((sum, { length }) => sum + heads * length, 0);
  const unpack = new Int32Array(size);
  const isReal = new Uint8Array(size);
  let place = 0;
  for (const { rows, length } of parts) {
    for (let h = 0; h < heads; h++, place += length) {
      unpack.fill(h, place, place + length);
      isReal.fill(1, place, place + rows.length);
      for (let t = 0; t < rows.length; t++) unpack[place + t] = (rows[t]! - first) * heads + h;
    }
  }
  return { unpack, ...placesOf(unpack, { isReal, count: count * heads }) };
}

/** Where each row stands, in the order of places. */
function placesOf(
  unpack: Int32Array,
  { isReal, count }: { readonly isReal: Uint8Array; readonly count: number },
): Pick<BlockTable, 'places' | 'copies'> {
  const found = new Int32Array(count);
  for (let place = 0; place < unpack.length; place++) {
    if (isReal[place]) found[unpack[place]!]!++;
  }
  const copies = found.reduce((most, copy) => Math.max(most, copy), 1);
  const places = new Int32Array(copies * count).fill(-1);
  found.fill(0);
  for (let place = 0; place < unpack.length; place++) {
    if (isReal[place]) places[found[unpack[place]!]!++ * count + unpack[place]!] = place;
  }
  return { places, copies };
}

/** Rows of sequences that lie end to end. */
export function consecutiveRows(lengths: readonly number[]): Int32Array[] {
  let first = 0;
  return lengths.map((length) => {
    first += length;
    return Int32Array.from({ length }, (_, t) => first - length + t);
  });
}

/**
 * Attention bias of a block, [spans, 1, queries, keys]: the query at place t sees keys 0 to t; −1e9
 * elsewhere.
 * @example places 1 and 2 of a sequence, 4 keys  →  [0, 0, −1e9, −1e9], [0, 0, 0, −1e9]
 */
export function causalBias({ spans, queries, keys }: AttentionBlock): Float32Array {
  const bias = new Float32Array(spans.length * queries * keys);
  for (const [b, { start }] of spans.entries()) {
    for (let t = 0; t < queries; t++) {
      const row = (b * queries + t) * keys;
      bias.fill(-1e9, row + Math.min(start + t + 1, keys), row + keys);
    }
  }
  return bias;
}

/** [spans, 1, queries, 1]: 1 for the queries of a block, 0 where padding stands. */
export function realQueries({ spans, queries }: AttentionBlock): Float32Array {
  const real = new Float32Array(spans.length * queries);
  for (const [b, { start, end }] of spans.entries()) {
    real.fill(1, b * queries, b * queries + end - start);
  }
  return real;
}
