import { type Tensor, tensor } from '../engine/runtime/index.ts';
import type { DecoderConfig } from '../models/decoder/decoder-config.ts';

/** Capacity grows by this many tokens. */
const STEP = 64;
const HIDDEN = -1e9;

/** Bytes of a cache for texts of a length, in float32.
 *  @example 28 layers of 8 heads of 128, 1 text of 64 tokens  →  28·8·128·64·2·4 = 14,680,064 */
export function cacheBytes(
  config: DecoderConfig,
  { slots, length }: { readonly slots: number; readonly length: number },
): number {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  return 2 * 4 * layers * heads * size * slots * roundUp(length);
}

function roundUp(tokens: number): number {
  return Math.ceil(tokens / STEP) * STEP;
}

/**
 * Keys and values of the sequences in the batch: [slots, kvHeads, capacity, D] for each layer, fed
 * where they lie. The slots in use are always the first ones.
 */
export class KvCache {
  readonly lengths: Int32Array;
  private readonly config: DecoderConfig;
  private readonly slots: number;
  private capacity = 0;
  private keys: Float32Array[] = [];
  private values: Float32Array[] = [];
  private bias = new Float32Array(0);

  constructor(config: DecoderConfig, slots: number) {
    this.config = config;
    this.slots = slots;
    this.lengths = new Int32Array(slots);
  }

  /** Makes room for sequences of this many tokens. */
  reserve(tokens: number): void {
    if (tokens <= this.capacity) return;
    const capacity = roundUp(tokens);
    this.keys = this.resized(this.keys, capacity);
    this.values = this.resized(this.values, capacity);
    this.bias = new Float32Array(this.slots * capacity).fill(HIDDEN);
    this.capacity = capacity;
    for (let slot = 0; slot < this.slots; slot++) this.setLength(slot, this.lengths[slot]!);
  }

  /** Puts a prompt's rows of one layer, [length, kvHeads, D], into a slot. */
  write(slot: number, { layer, k, v }: { layer: number; k: Float32Array; v: Float32Array }): void {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const length = k.length / (heads * size);
    for (let t = 0; t < length; t++) {
      for (let h = 0; h < heads; h++) {
        const from = (t * heads + h) * size;
        const to = this.place(slot, h, t);
        this.keys[layer]!.set(k.subarray(from, from + size), to);
        this.values[layer]!.set(v.subarray(from, from + size), to);
      }
    }
  }

  /** Adds one token's rows for each of the first `count` slots: k and v are [layers, count, kvHeads, D]. */
  append(count: number, k: Float32Array, v: Float32Array): void {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    for (let layer = 0, from = 0; layer < this.keys.length; layer++) {
      for (let slot = 0; slot < count; slot++) {
        for (let h = 0; h < heads; h++, from += size) {
          const to = this.place(slot, h, this.lengths[slot]!);
          this.keys[layer]!.set(k.subarray(from, from + size), to);
          this.values[layer]!.set(v.subarray(from, from + size), to);
        }
      }
    }
    for (let slot = 0; slot < count; slot++) this.setLength(slot, this.lengths[slot]! + 1);
  }

  /** Copies one slot's tokens over another's. */
  copy(from: number, to: number): void {
    const span = this.config.num_key_value_heads * this.capacity * this.config.head_dim;
    for (const arrays of [this.keys, this.values]) {
      for (const array of arrays) array.copyWithin(to * span, from * span, (from + 1) * span);
    }
    this.setLength(to, this.lengths[from]!);
  }

  setLength(slot: number, length: number): void {
    const start = slot * this.capacity;
    this.bias.fill(0, start, start + length);
    this.bias.fill(HIDDEN, start + length, start + this.capacity);
    this.lengths[slot] = length;
  }

  /** The decode graph's view of the first `count` slots. */
  feeds(count: number): Record<string, Tensor> {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const shape = [count, heads, this.capacity, size];
    const length = count * heads * this.capacity * size;
    const feeds: Record<string, Tensor> = {
      bias: tensor(this.bias.subarray(0, count * this.capacity), [count, 1, 1, this.capacity]),
    };
    for (let layer = 0; layer < this.keys.length; layer++) {
      feeds[`k.${layer}`] = tensor(this.keys[layer]!.subarray(0, length), shape);
      feeds[`v.${layer}`] = tensor(this.values[layer]!.subarray(0, length), shape);
    }
    return feeds;
  }

  private place(slot: number, head: number, t: number): number {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    return ((slot * heads + head) * this.capacity + t) * size;
  }

  private resized(arrays: readonly Float32Array[], capacity: number): Float32Array[] {
    const { num_hidden_layers, num_key_value_heads: heads, head_dim: size } = this.config;
    const rows = this.slots * heads;
    return Array.from({ length: num_hidden_layers }, (_, layer) => {
      const larger = new Float32Array(rows * capacity * size);
      const old = arrays[layer];
      for (let row = 0; old !== undefined && row < rows; row++) {
        const span = this.capacity * size;
        larger.set(old.subarray(row * span, (row + 1) * span), row * capacity * size);
      }
      return larger;
    });
  }
}
