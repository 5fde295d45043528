import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import type { AttentionBlock } from './attention-blocks.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { causalBias, keyTable, type PackedBlocks, queryTable, realQueries } from './packing.ts';
import { inverseFrequencies, ropeTables } from './rope.ts';

/** What a layer graph must be built for to take a batch. */
export interface BatchForm {
  /** How many blocks attention is cut into. */
  readonly blocks: number;
  /** Whether rows are keys in several places. */
  readonly shared: boolean;
  /** Whether attention also sees rows whose keys and values are known. */
  readonly past: boolean;
}

/** How a batch is run: the form of its graph, and what that is fed besides x and weights. */
export interface BatchPlan {
  readonly form: BatchForm;
  /** Positions, index tables, causal bias. */
  readonly feeds: Readonly<Record<string, Tensor>>;
}

/** The plan of a batch whose attention is cut into some blocks.
 *  @param given `positions` has the place of each row in its sequence */
export function planBatch(
  { positions, ...given }: PackedBlocks & { readonly positions: Int32Array },
  config: DecoderConfig,
): BatchPlan {
  const { known } = given;
  const shared = known === 0 && countKeys(given.blocks) > positions.length;
  const packed = { ...given, blocks: shared ? withSpareKey(given.blocks) : given.blocks };
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

/** The first block with a key more, which nobody sees: no gradient comes from there. */
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
  // Where a row has fewer places than others, the key that nobody sees stands for one.
  const filled = places.map((place, i) => (place < 0 ? ((i % heads) + 1) * spare - 1 : place));
  return {
    'unpack.kv': tensor(unpack, [unpack.length]),
    'places.kv': tensor(filled, [copies, filled.length / copies / heads, heads]),
  };
}

/** Rows that stand first are known; no gradient leads back from here. */
function pastFeeds(packed: PackedBlocks, config: DecoderConfig): Record<string, Tensor> {
  const { unpack } = keyTable(packed, config.num_key_value_heads);
  return { 'unpack.kv': tensor(unpack, [unpack.length]) };
}

/** cos and sin of the given positions, where the model rotates its heads. */
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
