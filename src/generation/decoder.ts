import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { SaveList } from '../engine/graph/index.ts';
import {
  type CompiledGraph,
  compile,
  type Feeds,
  freeTensors,
  type Tensor,
  tensor,
} from '../engine/runtime/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { rotationFeeds } from '../models/decoder/batch-plan.ts';
import { decodeGraph, SUM_BLOCK } from '../models/decoder/decode-graph.ts';
import { forward } from '../models/decoder/forward.ts';
import { PackedBatch } from '../models/decoder/packed-batch.ts';
import type { KeysAndValues, Pass } from '../models/decoder/pass.ts';
import type { Trunk } from '../models/decoder/trunk.ts';
import { heldPrecision, type RolloutPrecision, weightSource } from './decode-weights.ts';
import { DeviceKvCache } from './device-kv-cache.ts';
import { KvCache, type KvStore } from './kv-cache.ts';
import type { RowSums } from './sampler/softmax-row.ts';

export interface PrefillOptions {
  /** Destination of each prompt's keys and values. */
  readonly slots: readonly number[];
  readonly cache: KvStore;
  /** What the pass saves for training. */
  readonly save?: SaveList | undefined;
  /** Receives the states of the layers that other models share. */
  readonly trunk?: Trunk | undefined;
}

/** Logits of new tokens, [count, V]. */
export interface DecodedRows {
  readonly logits: Tensor<'float32'>;
  /** Sums of a row's weights e^((l − max)/T) per block; only for large vocabularies. */
  sumsOf(row: number): RowSums | undefined;
}

/** Vocabularies of at least this size are summed in the graph, which is faster than a loop here. */
const LARGE_VOCABULARY = 2 ** 14;
/** Smallest temperature; not 0 as a float32. */
const MIN_TEMPERATURE = 1e-30;

/** An empty cache for this many texts, where a model's graphs run. */
export function createCache(base: BaseModel, slots: number): KvStore {
  return base.backend.keepsTensors
    ? new DeviceKvCache(base, slots)
    : new KvCache(base.architecture.config, slots);
}

/** Runs prompts and single tokens of a batch against a cache; returns logits. */
export class Decoder {
  private readonly base: BaseModel;
  private readonly adapter: LoraAdapter | undefined;
  private readonly decode: CompiledGraph;

  private constructor(
    base: BaseModel,
    { adapter, decode }: { adapter: LoraAdapter | undefined; decode: CompiledGraph },
  ) {
    this.base = base;
    this.adapter = adapter;
    this.decode = decode;
  }

  static async create(
    base: BaseModel,
    {
      adapter,
      precision = 'f32',
    }: { adapter?: LoraAdapter | undefined; precision?: RolloutPrecision } = {},
  ): Promise<Decoder> {
    const source = await weightSource(base, heldPrecision(base, precision));
    const sums = base.architecture.config.vocab_size >= LARGE_VOCABULARY;
    const graph = decodeGraph(base.architecture, { source, lora: adapter?.config, sums });
    return new Decoder(base, {
      adapter,
      decode: await compile(graph, { device: base.backend, keep: ['k', 'v'] }),
    });
  }

  /** Runs whole prompts and writes their keys and values into the given slots. Returns the logits of
   *  the last tokens, and the pass. */
  async prefill(
    prompts: readonly ArrayLike<number>[],
    { slots, cache, save, trunk }: PrefillOptions,
  ): Promise<{ readonly logits: Tensor<'float32'>; readonly pass: Pass }> {
    const batch = new PackedBatch(prompts);
    // Room for the next token too, because growing the cache copies it.
    cache.reserve(Math.max(...batch.lengths) + 1);
    const { base, adapter } = this;
    const onKeysAndValues = (layer: number, { k, v }: KeysAndValues) =>
      cache.write(layer, { k, v, slots, lengths: batch.lengths });
    const start = await trunk?.runPrompts({ base, adapter }, batch, onKeysAndValues);
    const pass = await forward({ base, adapter }, batch, { save, start, onKeysAndValues });
    for (const [i, slot] of slots.entries()) cache.setLength(slot, batch.lengths[i]!);
    const last = await base.deviceRows.take(pass.hidden, batch.lastRows());
    const logits = await base.logits(last);
    freeTensors(last);
    return { logits, pass };
  }

  /** Runs one new token for each of the first slots of the cache; sums are at this temperature. */
  async step(tokens: Int32Array, cache: KvStore, temperature = 1): Promise<DecodedRows> {
    const count = tokens.length;
    const positions = cache.lengths.slice(0, count);
    cache.reserve(Math.max(...positions) + 1);
    const { config } = this.base.architecture;
    const x = this.base.embed({ tokens, positions });
    const feeds = {
      ...{ x, temperature: tensor(Float32Array.of(Math.max(temperature, MIN_TEMPERATURE)), []) },
      ...rotationFeeds(config, positions),
      ...(await cache.feeds(count)),
    };
    const { logits, max, sums, k, v } = await this.decode.run(await this.withWeights(feeds));
    await cache.append(count, k!, v!);
    return { logits: logits as Tensor<'float32'>, sumsOf: (row) => sumsOf(row, { max, sums }) };
  }

  async dispose(): Promise<void> {
    await this.decode.dispose();
  }

  private withWeights(shared: Feeds): Promise<Feeds> {
    const feeds: Record<string, Tensor | Promise<Tensor>> = {};
    for (const name of Object.keys(this.decode.inputs)) {
      feeds[name] = shared[name] ?? this.adapter?.weights.get(name) ?? this.base.feed(name);
    }
    return this.base.settle(feeds);
  }
}

function sumsOf(
  row: number,
  { max, sums }: { readonly max?: Tensor | undefined; readonly sums?: Tensor | undefined },
): RowSums | undefined {
  if (max === undefined || sums === undefined) return undefined;
  const blocks = sums.shape[1]!;
  return {
    max: max.data[row]!,
    sums: (sums.data as Float32Array).subarray(row * blocks, (row + 1) * blocks),
    blockLength: SUM_BLOCK,
  };
}
