import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { causalBias, cutStripes, packingTables, realPlaces } from './packing.ts';
import { inverseFrequencies, ropeTables } from './rope.ts';

/** A stripe of attention has at least this many queries; more stripes than these gain little. */
const STRIPE = 64;
const MOST_STRIPES = 4;

/** Sequences laid end to end: M real tokens, no padding. */
export class PackedBatch {
  /** [M] */
  readonly tokens: Int32Array;
  /** [M], each token's place in its own sequence. */
  readonly positions: Int32Array;
  readonly lengths: readonly number[];

  constructor(sequences: readonly ArrayLike<number>[]) {
    this.lengths = sequences.map((sequence) => sequence.length);
    const total = this.lengths.reduce((a, b) => a + b, 0);
    this.tokens = new Int32Array(total);
    this.positions = new Int32Array(total);
    let row = 0;
    for (const sequence of sequences) {
      for (let t = 0; t < sequence.length; t++, row++) {
        this.tokens[row] = sequence[t]!;
        this.positions[row] = t;
      }
    }
  }

  private get longest(): number {
    return Math.max(...this.lengths);
  }

  /** Row of the last token of each sequence. */
  lastRows(): Int32Array {
    let end = 0;
    return Int32Array.from(this.lengths, (length) => {
      end += length;
      return end - 1;
    });
  }

  /** How many stripes attention is best cut into. */
  get stripes(): number {
    return Math.min(MOST_STRIPES, Math.max(1, Math.floor(this.longest / STRIPE)));
  }

  /** What the layer graph is fed besides x and weights: positions, index tables, causal bias. */
  feeds(config: DecoderConfig, stripes = this.stripes): Record<string, Tensor> {
    const rows = this.tokens.length;
    const batch = this.lengths.length;
    const { longest } = this;
    const feeds: Record<string, Tensor> = {
      real: tensor(realPlaces(this.lengths), [batch, 1, longest, 1]),
    };
    for (const [i, stripe] of cutStripes(longest, stripes).entries()) {
      feeds[`bias.${i}`] = tensor(causalBias(stripe), [stripe.end - stripe.start, stripe.end]);
    }
    const heads = { q: config.num_attention_heads, kv: config.num_key_value_heads };
    for (const [kind, count] of Object.entries(heads)) {
      const { pack, unpack } = packingTables(this.lengths, count);
      feeds[`unpack.${kind}`] = tensor(unpack, [batch, count, longest]);
      feeds[`pack.${kind}`] = tensor(pack, [rows, count]);
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
