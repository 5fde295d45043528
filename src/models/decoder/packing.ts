import type { AttentionBlock } from './attention-blocks.ts';

/** Where the rows of a packed batch stand in the blocks of its attention, one row for each head. */
export interface PackedBlocks {
  /** The row of each place of each sequence; sequences with a common beginning may share rows. */
  readonly rows: readonly ArrayLike<number>[];
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
  return makeTable(
    blocks.map(({ spans, queries }) => ({
      length: queries,
      parts: spans.map(({ sequence, start, end }) =>
        Array.from({ length: end - start }, (_, t) => rows[sequence]![start + t]! - known),
      ),
    })),
    { heads, count: countRows(rows) - known },
  );
}

/** Index tables of keys and values. */
export function keyTable({ rows, blocks }: PackedBlocks, heads: number): BlockTable {
  return makeTable(
    blocks.map(({ spans, keys }) => ({
      length: keys,
      parts: spans.map(({ sequence, end }) =>
        Array.from({ length: end }, (_, t) => rows[sequence]![t]!),
      ),
    })),
    { heads, count: countRows(rows) },
  );
}

interface Padded {
  readonly length: number;
  readonly parts: readonly (readonly number[])[];
}

function makeTable(
  blocks: readonly Padded[],
  { heads, count }: { readonly heads: number; readonly count: number },
): BlockTable {
  const places = blocks.flatMap(({ length, parts }) => parts.map((part) => ({ part, length })));
  const size = places.reduce((sum, { length }) => sum + heads * length, 0);
  const unpack = new Int32Array(size);
  const found: number[][] = Array.from({ length: count * heads }, () => []);
  let place = 0;
  for (const { part, length } of places) {
    for (let i = 0; i < heads * length; i++, place++) {
      const [h, t] = [Math.floor(i / length), i % length];
      const row = (part[t] ?? 0) * heads + h;
      unpack[place] = row;
      if (t < part.length) found[row]!.push(place);
    }
  }
  return { unpack, ...placesOf(found) };
}

function placesOf(found: readonly (readonly number[])[]): Pick<BlockTable, 'places' | 'copies'> {
  const copies = found.reduce((most, { length }) => Math.max(most, length), 1);
  const places = new Int32Array(copies * found.length).fill(-1);
  for (const [row, all] of found.entries()) {
    for (const [copy, at] of all.entries()) places[copy * found.length + row] = at;
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

function countRows(rows: readonly ArrayLike<number>[]): number {
  let count = 0;
  for (const places of rows)
    for (let t = 0; t < places.length; t++) count = Math.max(count, places[t]! + 1);
  return count;
}
