import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import type { AttentionBlock } from './attention-blocks.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { inverseFrequencies, ropeTables } from './rope.ts';
import { countRows } from './row-layout.ts';

/** Properties of a batch that a layer graph is built for. */
export interface BatchForm {
  /** Number of blocks of attention. */
  readonly blocks: number;
  /** Whether rows are keys of several sequences. */
  readonly shared: boolean;
  /** Whether attention also sees rows whose keys and values are known. */
  readonly past: boolean;
}

/** How a batch is run: the form of its graph, and its feeds besides x and weights. */
export interface BatchPlan {
  readonly form: BatchForm;
  /** Positions, index tables, causal bias. */
  readonly feeds: Readonly<Record<string, Tensor>>;
}

/** Plans a batch whose attention is split into blocks.
 *  @param batch `positions` has the position of each row in its sequence */
export function planBatch(
  { positions, ...batch }: PackedBlocks & { readonly positions: Int32Array },
  config: DecoderConfig,
): BatchPlan {
  const { known } = batch;
  const shared = known === 0 && countKeys(batch.blocks) > positions.length;
  const packed = { ...batch, blocks: shared ? withSpareKey(batch.blocks) : batch.blocks };
  return {
    form: { blocks: packed.blocks.length, shared, past: known > 0 },
    feeds: {
      ...queryFeeds(packed, config),
      ...(known > 0 ? pastFeeds(packed, config) : keyFeeds(packed, config)),
      ...rotationFeeds(config, positions.subarray(known)),
    },
  };
}

function countKeys(blocks: readonly AttentionBlock[]): number {
  return blocks.flatMap(({ spans }) => spans).reduce((sum, { end }) => sum + end, 0);
}

/** Adds a key to the first block that no query sees: no gradient comes from it. */
function withSpareKey([first, ...others]: readonly AttentionBlock[]): AttentionBlock[] {
  return [{ ...first!, keys: first!.keys + 1 }, ...others];
}

function queryFeeds(packed: PackedBlocks, config: DecoderConfig): Record<string, Tensor> {
  const heads = config.num_attention_heads;
  const { unpack, places } = queryTable(packed, heads);
  const feeds: Record<string, Tensor> = {
    'unpack.q': tensor(unpack, [unpack.length]),
    'pack.q': tensor(places, [places.length / heads, heads]),
  };
  for (const [i, block] of packed.blocks.entries()) {
    const { spans, queries, keys } = block;
    feeds[`bias.${i}`] = tensor(causalBias(block), [spans.length, 1, queries, keys]);
    feeds[`real.${i}`] = tensor(realQueries(block), [spans.length, 1, queries, 1]);
  }
  return feeds;
}

function keyFeeds(packed: PackedBlocks, config: DecoderConfig): Record<string, Tensor> {
  const heads = config.num_key_value_heads;
  const { unpack, places, copies } = keyTable(packed, heads);
  const spare = packed.blocks[0]!.keys;
  // Rows with fewer places than others are filled up with the unseen key.
  const filled = places.map((place, i) => (place < 0 ? ((i % heads) + 1) * spare - 1 : place));
  return {
    'unpack.kv': tensor(unpack, [unpack.length]),
    'places.kv': tensor(filled, [copies, filled.length / copies / heads, heads]),
  };
}

/** The leading rows are known; nothing flows back to them. */
function pastFeeds(packed: PackedBlocks, config: DecoderConfig): Record<string, Tensor> {
  const { unpack } = keyTable(packed, config.num_key_value_heads);
  return { 'unpack.kv': tensor(unpack, [unpack.length]) };
}

/** cos and sin of the positions, if the model uses rotary embeddings. */
export function rotationFeeds(
  config: DecoderConfig,
  positions: ArrayLike<number>,
): Record<string, Tensor> {
  if (config.rope === undefined) return {};
  const frequencies = inverseFrequencies(config.rope, config.head_dim);
  const { cos, sin } = ropeTables(positions, frequencies);
  const shape = [positions.length, config.head_dim / 2];
  return { cos: tensor(cos, shape), sin: tensor(sin, shape) };
}

/** Positions of the rows of a packed batch in its attention blocks, one row per head. */
export interface PackedBlocks {
  /** The row of each position of each sequence; sequences with a shared prefix may share rows. */
  readonly rows: readonly Int32Array[];
  readonly blocks: readonly AttentionBlock[];
  /** Number of leading rows that are not queries. */
  readonly known: number;
}

/** Blocks one after another, each [spans, heads, places]. */
export interface BlockTable {
  /** Row m·heads + h of each place; padding points at row h of the first token. */
  readonly unpack: Int32Array;
  /** Places of each row: [copies, M, heads], with copies the maximum per row; −1 if a row has
   *  fewer. */
  readonly places: Int32Array;
  readonly copies: number;
}

/** Index tables of the queries: rows are counted from the first query, and each occurs once. */
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

/** Places of each row, in order. */
function placesOf(
  unpack: Int32Array,
  { isReal, count }: { readonly isReal: Uint8Array; readonly count: number },
): Pick<BlockTable, 'places' | 'copies'> {
  const counts = new Int32Array(count);
  for (let place = 0; place < unpack.length; place++) {
    if (isReal[place]) counts[unpack[place]!]!++;
  }
  const copies = counts.reduce((most, copy) => Math.max(most, copy), 1);
  const places = new Int32Array(copies * count).fill(-1);
  counts.fill(0);
  for (let place = 0; place < unpack.length; place++) {
    if (isReal[place]) places[counts[unpack[place]!]!++ * count + unpack[place]!] = place;
  }
  return { places, copies };
}

/**
 * Attention bias of a block, [spans, 1, queries, keys]: the query at position t sees keys 0 to t; −1e9
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

/** [spans, 1, queries, 1]: 1 for the queries of a block, 0 for padding. */
export function realQueries({ spans, queries }: AttentionBlock): Float32Array {
  const real = new Float32Array(spans.length * queries);
  for (const [b, { start, end }] of spans.entries()) {
    real.fill(1, b * queries, b * queries + end - start);
  }
  return real;
}
