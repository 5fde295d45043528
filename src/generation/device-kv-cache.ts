import {
  concat,
  type Graph,
  gatherRows,
  input,
  makeGraph,
  reshape,
  slice,
  transpose,
  type Value,
  where,
} from '../engine/graph/index.ts';
import { type Feeds, freeTensors, type Tensor, tensor } from '../engine/runtime/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import type { DecoderConfig } from '../models/decoder/decoder-config.ts';
import { attentionBias, capacityFor, type KvStore, type PromptKeys } from './kv-cache.ts';

/** Graphs that change the keys and values of all layers in one run: names of their inputs and outputs. */
const cacheNames = (layers: number) =>
  Array.from({ length: layers }, (_, layer) => [`k.${layer}`, `v.${layer}`]).flat();

/**
 * Keys and values in the memory of a device: [slots, kvHeads, capacity, D] per layer. Only tables of
 * positions cross over. The slots that exist are those in use.
 */
export class DeviceKvCache implements KvStore {
  readonly lengths: Int32Array;
  private readonly base: BaseModel;
  /** Where the tokens of each slot are in the tensors. */
  private places: Int32Array;
  private needed = 0;
  private capacity = 0;
  private tensors: Record<string, Tensor> = {};

  constructor(base: BaseModel, slots: number) {
    this.base = base;
    this.lengths = new Int32Array(slots);
    this.places = Int32Array.from({ length: slots }, (_, slot) => slot);
  }

  reserve(tokens: number): void {
    this.needed = Math.max(this.needed, capacityFor(tokens));
  }

  setLength(slot: number, length: number): void {
    this.lengths[slot] = length;
  }

  copy(from: number, to: number): void {
    this.places[to] = this.places[from]!;
    this.lengths[to] = this.lengths[from]!;
  }

  /** Reading keys and values back would take longer than running the text again. */
  save(): undefined {
    return undefined;
  }

  restore(): never {
    throw new Error('Internal: keys and values on a device are never saved');
  }

  async write(layer: number, { k, v, slots, lengths }: PromptKeys): Promise<void> {
    await this.arrange(Math.max(this.slotCount, ...slots.map((slot) => slot + 1)));
    const [count, capacity] = [this.slotCount, this.capacity];
    const index = new Int32Array(count * capacity);
    const isNew = new Uint8Array(count * capacity);
    let row = 0;
    for (const [i, slot] of slots.entries()) {
      const start = slot * capacity;
      isNew.fill(1, start, start + lengths[i]!);
      for (let t = 0; t < lengths[i]!; t++) index[start + t] = row++;
    }
    const graph = await this.base.compile('write keys', () => writeGraph(this.config), {
      keep: ['k', 'v'],
    });
    const [oldK, oldV] = [this.tensors[`k.${layer}`]!, this.tensors[`v.${layer}`]!];
    const { k: newK, v: newV } = await graph.run({
      ...{ k, v, oldK, oldV, index: tensor(index, [count, capacity]) },
      isNew: tensor(isNew, [count, 1, capacity, 1]),
    });
    freeTensors(oldK, oldV);
    this.tensors[`k.${layer}`] = newK!;
    this.tensors[`v.${layer}`] = newV!;
  }

  async append(count: number, k: Tensor, v: Tensor): Promise<void> {
    const isNew = new Uint8Array(count * this.capacity);
    for (let slot = 0; slot < count; slot++) isNew[slot * this.capacity + this.lengths[slot]!] = 1;
    const feeds = { newK: k, newV: v, isNew: tensor(isNew, [count, 1, this.capacity, 1]) };
    await this.replace('append keys', feeds, appendGraph);
    freeTensors(k, v);
    for (let slot = 0; slot < count; slot++) this.lengths[slot]!++;
  }

  async feeds(count: number): Promise<Record<string, Tensor>> {
    await this.arrange(count);
    const bias = attentionBias(this.lengths.subarray(0, count), this.capacity);
    return { ...this.tensors, bias };
  }

  free(): void {
    freeTensors(...Object.values(this.tensors));
    this.tensors = {};
    this.capacity = 0;
  }

  private get config(): DecoderConfig {
    return this.base.architecture.config;
  }

  /** Number of slots that exist. */
  private get slotCount(): number {
    return this.tensors['k.0']?.shape[0] ?? 0;
  }

  /** Moves the tokens of slot i to place i for the first `count` slots, and makes room for longer texts. */
  private async arrange(count: number): Promise<void> {
    const { num_key_value_heads: heads, head_dim: size, num_hidden_layers: layers } = this.config;
    const isOrdered = this.places.subarray(0, count).every((place, slot) => place === slot);
    if (isOrdered && this.slotCount === count && this.capacity === this.needed) return;
    const added = this.needed - this.capacity;
    if (this.slotCount === 0) {
      const empty = () =>
        tensor(new Float32Array(count * heads * this.needed * size), [
          count,
          heads,
          this.needed,
          size,
        ]);
      this.tensors = Object.fromEntries(cacheNames(layers).map((name) => [name, empty()]));
    } else {
      // A slot without tokens yet may start as a copy of any other.
      const known = this.slotCount;
      const places = this.places.slice(0, count).map((place) => (place < known ? place : 0));
      const feeds: Feeds = { places: tensor(places, [count]) };
      const shape = [count, heads, added, size];
      const zeros = tensor(new Float32Array(count * heads * added * size), shape);
      if (added > 0) await this.replace('grow keys', { ...feeds, zeros }, growGraph);
      else await this.replace('arrange keys', feeds, arrangeGraph);
    }
    for (let slot = 0; slot < this.places.length; slot++) this.places[slot] = slot;
    this.capacity = this.needed;
  }

  /** Replaces the keys and values of all layers by functions of them. */
  private async replace(
    name: string,
    feeds: Feeds,
    build: (config: DecoderConfig) => Graph,
  ): Promise<void> {
    const compiled = await this.base.compile(name, () => build(this.config), { keep: () => true });
    const old = this.tensors;
    this.tensors = await compiled.run({ ...old, ...feeds });
    freeTensors(...Object.values(old));
  }
}

/** New keys and values of one layer: packed rows [T, kvHeads, D] at some positions, the old ones elsewhere. */
function writeGraph({ num_key_value_heads: heads, head_dim: size }: DecoderConfig): Graph {
  const isNew = input('isNew', ['S', 1, 'C', 1], 'bool');
  const index = input('index', ['S', 'C'], 'int32');
  const written = (rows: string, old: string): Value => {
    const gathered = gatherRows(input(rows, ['T', heads, size]), index);
    const placed = transpose(gathered, [0, 2, 1, 3]);
    return where(isNew, placed, input(old, ['S', heads, 'C', size]));
  };
  return makeGraph({ k: written('k', 'oldK'), v: written('v', 'oldV') });
}

/** One more token per slot, from rows [layers, S, kvHeads, D]. */
function appendGraph(config: DecoderConfig): Graph {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const isNew = input('isNew', ['S', 1, 'C', 1], 'bool');
  const [newK, newV] = ['newK', 'newV'].map((name) => input(name, [layers, 'S', heads, size]));
  const outputs = cacheNames(layers).map((name) => {
    const [kind, layer] = name.split('.') as [string, string];
    const own = slice(kind === 'k' ? newK! : newV!, {
      axis: 0,
      start: Number(layer),
      end: Number(layer) + 1,
    });
    const row = reshape(own, ['S', heads, 1, size]);
    return [name, where(isNew, row, input(name, ['S', heads, 'C', size]))];
  });
  return makeGraph(Object.fromEntries(outputs));
}

/** Slots in another order and number. */
function arrangeGraph(config: DecoderConfig): Graph {
  return makeGraph(Object.fromEntries(arranged(config)));
}

/** The same with more capacity. */
function growGraph(config: DecoderConfig): Graph {
  const { num_key_value_heads: heads, head_dim: size } = config;
  const zeros = input('zeros', ['S', heads, 'A', size]);
  const grown = arranged(config).map(([name, old]) => [name, concat([old, zeros], 2)]);
  return makeGraph(Object.fromEntries(grown));
}

function arranged(config: DecoderConfig): (readonly [string, Value])[] {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const places = input('places', ['S'], 'int32');
  return cacheNames(layers).map((name) => [
    name,
    gatherRows(input(name, ['P', heads, 'C', size]), places),
  ]);
}
