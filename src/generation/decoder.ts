import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { SaveList } from '../engine/graph/index.ts';
import { type CompiledGraph, compile, type Tensor, tensor } from '../engine/runtime/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { rotationFeeds } from '../models/decoder/batch-plan.ts';
import { decodeGraph, SUM_BLOCK } from '../models/decoder/decode-graph.ts';
import { forward, type KeysAndValues, type Pass } from '../models/decoder/forward.ts';
import { PackedBatch } from '../models/decoder/packed-batch.ts';
import { takeRows } from '../models/decoder/rows.ts';
import type { Trunk } from '../models/decoder/trunk.ts';
import { type RolloutPrecision, weightSource } from './decode-weights.ts';
import type { KvCache } from './kv-cache.ts';
import type { RowSums } from './sampler/softmax-row.ts';

export interface PrefillOptions {
  /** Destination of each prompt's keys and values. */
  readonly slots: readonly number[];
  readonly cache: KvCache;
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
    const source = await weightSource(base, precision);
    const sums = base.architecture.config.vocab_size >= LARGE_VOCABULARY;
    const graph = decodeGraph(base.architecture, { source, lora: adapter?.config, sums });
    return new Decoder(base, { adapter, decode: await compile(graph, { device: base.backend }) });
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
      this.store(batch, { layer, k, v, slots, cache });
    const start = await trunk?.runPrompts({ base, adapter }, batch, onKeysAndValues);
    const pass = await forward({ base, adapter }, batch, { save, start, onKeysAndValues });
    for (const [i, slot] of slots.entries()) cache.setLength(slot, batch.lengths[i]!);
    return { logits: await base.logits(takeRows(pass.hidden, batch.lastRows())), pass };
  }

  /** Runs one new token for each of the first slots of the cache; sums are at this temperature. */
  async step(tokens: Int32Array, cache: KvCache, temperature = 1): Promise<DecodedRows> {
    const count = tokens.length;
    const positions = cache.lengths.slice(0, count);
    cache.reserve(Math.max(...positions) + 1);
    const { config } = this.base.architecture;
    const x = this.base.embed({ tokens, positions });
    const feeds = {
      ...{ x, temperature: tensor(Float32Array.of(Math.max(temperature, MIN_TEMPERATURE)), []) },
      ...rotationFeeds(config, positions),
      ...cache.feeds(count),
    };
    const { logits, max, sums, k, v } = await this.decode.run(this.withWeights(feeds));
    cache.append(count, k!.data as Float32Array, v!.data as Float32Array);
    return { logits: logits as Tensor<'float32'>, sumsOf: (row) => sumsOf(row, { max, sums }) };
  }

  async dispose(): Promise<void> {
    await this.decode.dispose();
  }

  private store(
    batch: PackedBatch,
    {
      layer,
      k,
      v,
      slots,
      cache,
    }: { layer: number; k: Tensor; v: Tensor; slots: readonly number[]; cache: KvCache },
  ): void {
    const width = k.shape[1]! * k.shape[2]!;
    let start = 0;
    slots.forEach((slot, i) => {
      const end = start + batch.lengths[i]! * width;
      const rows = (values: Tensor) => (values.data as Float32Array).subarray(start, end);
      cache.write(slot, { layer, k: rows(k), v: rows(v) });
      start = end;
    });
  }

  private withWeights(shared: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
    const feeds: Record<string, Tensor> = {};
    for (const name of Object.keys(this.decode.inputs)) {
      feeds[name] = shared[name] ?? this.adapter?.weights.get(name) ?? this.base.feed(name);
    }
    return feeds;
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
