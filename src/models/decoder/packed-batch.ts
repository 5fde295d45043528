import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import type { DecoderConfig } from './decoder-config.ts';
import {
  causalBias,
  consecutiveRows,
  cutStripes,
  packingTables,
  placesOfRows,
  realPlaces,
} from './packing.ts';
import { inverseFrequencies, ropeTables } from './rope.ts';
import { shareRows } from './share-rows.ts';

/** A stripe of attention has at least this many queries; more stripes than these gain little. */
const STRIPE = 64;
const MOST_STRIPES = 4;

export interface PackedBatchOptions {
  /** Tokens at the beginning that several sequences have in common stand once; false by default. */
  readonly share?: boolean;
}

/** What a layer graph must be built for to take a batch. */
export interface BatchForm {
  /** How many stripes attention is cut into. */
  readonly stripes: number;
  /** Whether sequences have rows in common. */
  readonly shared: boolean;
}

/** Sequences without padding: M tokens, as a rule end to end. */
export class PackedBatch {
  /** [M] */
  readonly tokens: Int32Array;
  /** [M], each token's place in its own sequence. */
  readonly positions: Int32Array;
  /** The row of each place of each sequence. */
  readonly rows: readonly Int32Array[];
  readonly form: BatchForm;
  /** T of the padded form; with rows in common, the last place is padding in all sequences. */
  private readonly paddedLength: number;

  constructor(sequences: readonly ArrayLike<number>[], { share = false }: PackedBatchOptions = {}) {
    const lengths = sequences.map(({ length }) => length);
    const sum = lengths.reduce((a, b) => a + b, 0);
    const { rows, count } = share
      ? shareRows(sequences)
      : { rows: consecutiveRows(lengths), count: sum };
    this.rows = rows;
    this.tokens = new Int32Array(count);
    this.positions = new Int32Array(count);
    for (const [b, places] of rows.entries()) {
      for (let t = 0; t < places.length; t++) {
        this.tokens[places[t]!] = sequences[b]![t]!;
        this.positions[places[t]!] = t;
      }
    }
    const longest = Math.max(...lengths);
    const shared = count < sum;
    const stripes = Math.min(MOST_STRIPES, Math.max(1, Math.floor(longest / STRIPE)));
    this.form = { stripes, shared };
    this.paddedLength = shared ? longest + 1 : longest;
  }

  get lengths(): readonly number[] {
    return this.rows.map(({ length }) => length);
  }

  /** Row of the last token of each sequence. */
  lastRows(): Int32Array {
    return Int32Array.from(this.rows, (places) => places.at(-1)!);
  }

  /** What the layer graph is fed besides x and weights: positions, index tables, causal bias. */
  feeds(config: DecoderConfig, stripes = this.form.stripes): Record<string, Tensor> {
    const { rows, paddedLength: length } = this;
    const padded = { rows, length };
    const feeds: Record<string, Tensor> = {
      real: tensor(realPlaces(padded), [rows.length, 1, length, 1]),
    };
    for (const [i, stripe] of cutStripes(length, stripes).entries()) {
      feeds[`bias.${i}`] = tensor(causalBias(stripe), [stripe.end - stripe.start, stripe.end]);
    }
    const heads = { q: config.num_attention_heads, kv: config.num_key_value_heads };
    for (const [kind, count] of Object.entries(heads)) {
      const { pack, unpack } = packingTables(padded, count);
      feeds[`unpack.${kind}`] = tensor(unpack, [rows.length, count, length]);
      feeds[`pack.${kind}`] = tensor(pack, [this.tokens.length, count]);
    }
    if (this.form.shared) {
      const { table, copies } = placesOfRows(padded, heads.kv);
      feeds['places.kv'] = tensor(table, [copies, this.tokens.length, heads.kv]);
    }
    return { ...feeds, ...rotationFeeds(config, this.positions) };
  }
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
