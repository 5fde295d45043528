import { type Tensor, tensor } from '../engine/runtime/index.ts';
import type { DecoderConfig } from '../models/decoder/decoder-config.ts';

/** Capacities are multiples of this many tokens. */
const CAPACITY_STEP = 32;
/** Extra room, as a fraction of the tokens: every step reads the whole capacity, and growing copies it. */
const SPARE = 1 / 8;
/** Attention bias of positions without a token. */
const MASKED = -1e9;

/** Bytes of a float32 cache for texts of a given length.
 *  @example 28 layers of 8 heads of 128, 1 text of 80 tokens  →  28·8·128·96·2·4 = 22,020,096 */
export function cacheBytes(
  config: DecoderConfig,
  { slots, length }: { readonly slots: number; readonly length: number },
): number {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  return 2 * 4 * layers * heads * size * slots * capacityFor(length);
}

/** A capacity that has room for this many tokens and some more.
 *  @example 65 tokens  →  96;  257  →  320 */
export function capacityFor(tokens: number): number {
  return Math.ceil((tokens * (1 + SPARE)) / CAPACITY_STEP) * CAPACITY_STEP;
}

/** Keys and values of one text outside the cache, [kvHeads, length, D] per layer. */
export interface SavedSlot {
  readonly length: number;
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
}

/** Bytes of the saved keys and values of a text. */
export function savedBytes(saved: SavedSlot | undefined): number {
  if (saved === undefined) return 0;
  return [...saved.keys, ...saved.values].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Keys and values of whole prompts in one layer, [M, kvHeads, D] with one prompt after the other. */
export interface PromptKeys {
  readonly k: Tensor;
  readonly v: Tensor;
  /** The slot of each prompt. */
  readonly slots: readonly number[];
  /** Number of tokens of each prompt. */
  readonly lengths: ArrayLike<number>;
}

/** Keys and values of the sequences in the batch, in host memory or on a device. The slots in use are always
 *  the first ones. */
export interface KvStore {
  /** Number of tokens in each slot. */
  readonly lengths: Int32Array;
  /** Makes room for sequences of this many tokens. */
  reserve(tokens: number): void;
  /** Writes the keys and values of prompts in one layer to their slots. */
  write(layer: number, prompts: PromptKeys): void | Promise<void>;
  /** Appends one token to each of the first `count` slots: k and v are [layers, count, kvHeads, D]. */
  append(count: number, k: Tensor, v: Tensor): void | Promise<void>;
  /** Copies the tokens of one slot to another. */
  copy(from: number, to: number): void;
  /** Copies the tokens of a slot out of the cache, if they are in host memory and take at most this many
   *  bytes. */
  save(slot: number, maxBytes: number): SavedSlot | undefined;
  /** Copies saved tokens into a slot. */
  restore(slot: number, saved: SavedSlot): void;
  setLength(slot: number, length: number): void;
  /** Feeds of the decode graph for the first `count` slots. */
  feeds(count: number): Record<string, Tensor> | Promise<Record<string, Tensor>>;
  /** Frees the memory on a device. */
  free(): void;
}

/** The attention bias [count, 1, 1, capacity] of texts: 0 where there is a token. */
export function attentionBias(lengths: Int32Array, capacity: number): Tensor {
  const bias = new Float32Array(lengths.length * capacity).fill(MASKED);
  for (const [slot, length] of lengths.entries()) {
    bias.fill(0, slot * capacity, slot * capacity + length);
  }
  return tensor(bias, [lengths.length, 1, 1, capacity]);
}

/**
 * Keys and values in host memory: [slots, kvHeads, capacity, D] per layer, fed without a
 * copy. The slots in use are always the first ones.
 */
export class KvCache implements KvStore {
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

  /** Grows the capacity to sequences of this many tokens. */
  reserve(tokens: number): void {
    if (tokens <= this.capacity) return;
    const capacity = capacityFor(tokens);
    this.keys = this.resized(this.keys, capacity);
    this.values = this.resized(this.values, capacity);
    this.bias = new Float32Array(this.slots * capacity).fill(MASKED);
    this.capacity = capacity;
    for (let slot = 0; slot < this.slots; slot++) this.setLength(slot, this.lengths[slot]!);
  }

  write(layer: number, { slots, lengths, ...rows }: PromptKeys): void {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const [k, v] = [rows.k.data as Float32Array, rows.v.data as Float32Array];
    let from = 0;
    for (const [i, slot] of slots.entries()) {
      for (let t = 0; t < lengths[i]!; t++) {
        for (let h = 0; h < heads; h++, from += size) {
          const to = this.indexOf(slot, h, t);
          this.keys[layer]!.set(k.subarray(from, from + size), to);
          this.values[layer]!.set(v.subarray(from, from + size), to);
        }
      }
    }
  }

  append(count: number, newKeys: Tensor, newValues: Tensor): void {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const [k, v] = [newKeys.data as Float32Array, newValues.data as Float32Array];
    for (let layer = 0, from = 0; layer < this.keys.length; layer++) {
      for (let slot = 0; slot < count; slot++) {
        for (let h = 0; h < heads; h++, from += size) {
          const to = this.indexOf(slot, h, this.lengths[slot]!);
          this.keys[layer]!.set(k.subarray(from, from + size), to);
          this.values[layer]!.set(v.subarray(from, from + size), to);
        }
      }
    }
    for (let slot = 0; slot < count; slot++) this.setLength(slot, this.lengths[slot]! + 1);
  }

  save(slot: number, maxBytes: number): SavedSlot | undefined {
    const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = this.config;
    const length = this.lengths[slot]!;
    if (2 * 4 * layers * heads * size * length > maxBytes) return undefined;
    return {
      length,
      keys: this.keys.map((array) => this.gather(array, { slot, length })),
      values: this.values.map((array) => this.gather(array, { slot, length })),
    };
  }

  restore(slot: number, { length, keys, values }: SavedSlot): void {
    this.reserve(length + 1);
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const copy = (saved: readonly Float32Array[], arrays: readonly Float32Array[]) => {
      for (const [layer, array] of arrays.entries()) {
        for (let h = 0; h < heads; h++) {
          const part = saved[layer]!.subarray(h * length * size, (h + 1) * length * size);
          array.set(part, this.indexOf(slot, h, 0));
        }
      }
    };
    copy(keys, this.keys);
    copy(values, this.values);
    this.setLength(slot, length);
  }

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
    this.bias.fill(MASKED, start + length, start + this.capacity);
    this.lengths[slot] = length;
  }

  /** Does nothing: the garbage collector frees host memory. */
  free(): void {}

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

  private gather(
    array: Float32Array,
    { slot, length }: { readonly slot: number; readonly length: number },
  ): Float32Array {
    const { num_key_value_heads: heads, head_dim: size } = this.config;
    const copy = new Float32Array(heads * length * size);
    for (let h = 0; h < heads; h++) {
      const start = this.indexOf(slot, h, 0);
      copy.set(array.subarray(start, start + length * size), h * length * size);
    }
    return copy;
  }

  private indexOf(slot: number, head: number, t: number): number {
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

/** Doubling this makes a token cheaper by less than a fifth (docs/performance.md). */
const MAX_SLOTS = 32;
/** Maximum bytes of keys and values. */
export const MAX_CACHE_BYTES = 2 ** 30;

/** Default number of texts to generate together: up to 32, as many as fit into 1 GiB of cache.
 *  @param length tokens of the longest prompt and response */
export function chooseSlots(config: DecoderConfig, length: number): number {
  const fitting = Math.floor(MAX_CACHE_BYTES / cacheBytes(config, { slots: 1, length }));
  return Math.max(1, Math.min(MAX_SLOTS, fitting));
}
