import { onTestFinished } from 'vitest';
import { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import type { LoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { type Tensor, tensor } from '../../src/engine/runtime/index.ts';
import { createCache, Decoder } from '../../src/generation/decoder.ts';
import type { KvStore } from '../../src/generation/kv-cache.ts';
import type { BaseModel } from '../../src/models/decoder/base-model.ts';
import { forward as runLayers } from '../../src/models/decoder/forward.ts';
import { PackedBatch } from '../../src/models/decoder/packed-batch.ts';

/** Logits after each token, one row per token. */
type LogitRows = readonly Float32Array[];

/** Rows of a matrix. */
export function rowsOf({ data, shape: [rows = 0, width = 0] }: Tensor<'float32'>): LogitRows {
  return Array.from({ length: rows }, (_, row) => data.slice(row * width, (row + 1) * width));
}

/** Logits of whole sequences that run together, without a cache. */
export async function forward(
  base: BaseModel,
  sequences: readonly ArrayLike<number>[],
  adapter?: LoraAdapter,
): Promise<LogitRows[]> {
  const { hidden } = await runLayers({ base, adapter }, new PackedBatch(sequences));
  const rows = rowsOf(await base.logits(hidden));
  let end = 0;
  return sequences.map(({ length }) => {
    end += length;
    return rows.slice(end - length, end);
  });
}

/** A decoder that is disposed after the current test, and a cache for it. */
export async function makeDecoder(
  base: BaseModel,
  { slots = 1, ...options }: { slots?: number } & Parameters<typeof Decoder.create>[1] = {},
): Promise<{ decoder: Decoder; cache: KvStore }> {
  const decoder = await Decoder.create(base, options);
  onTestFinished(() => decoder.dispose());
  return { decoder, cache: createCache(base, slots) };
}

/** Prefills slots 0, 1, … with prompts and continues each with its most likely tokens. */
export async function decodeGreedily(
  { decoder, cache }: { decoder: Decoder; cache: KvStore },
  prompts: readonly ArrayLike<number>[],
  count: number,
): Promise<number[][]> {
  const slots = prompts.map((_, slot) => slot);
  const { logits } = await decoder.prefill(prompts, { slots, cache });
  let best = rowsOf(logits).map(argmax);
  const ids = best.map((id) => [id]);
  for (let i = 1; i < count; i++) {
    best = rowsOf((await decoder.step(Int32Array.from(best), cache)).logits).map(argmax);
    for (const [slot, id] of best.entries()) ids[slot]?.push(id);
  }
  return ids;
}

/** Feeds tokens one by one to slots 0, 1, …; returns the logits after each, by slot. */
export async function decodeTokens(
  { decoder, cache }: { decoder: Decoder; cache: KvStore },
  tokens: readonly (readonly number[])[],
): Promise<Float32Array[][]> {
  const logits: Float32Array[][] = tokens.map(() => []);
  for (let i = 0; i < (tokens[0]?.length ?? 0); i++) {
    const step = Int32Array.from(tokens, (ids) => ids[i] as number);
    for (const [slot, row] of rowsOf((await decoder.step(step, cache)).logits).entries()) {
      logits[slot]?.push(row);
    }
  }
  return logits;
}

/** An adapter whose two matrices are both far from zero. */
export function makeAdapter(base: BaseModel, config: LoraConfig, seed = 1): LoraAdapter {
  const fresh = LoraAdapter.create(config, base.modules(), seed);
  const weights = [...fresh.weights].map(([name, { data, shape }]) => {
    const random = randomStream(seed, 'test adapter', name);
    return [
      name,
      tensor(
        Float32Array.from(data, () => 0.2 * random.normal()),
        shape,
      ),
    ] as const;
  });
  return new LoraAdapter(config, new Map(weights));
}

/** Random token ids. */
export function sampleIds(base: BaseModel, length: number, seed = 0): number[] {
  const random = randomStream(seed, 'test ids', length);
  return Array.from({ length }, () => random.integer(base.architecture.config.vocab_size));
}

function argmax(row: Float32Array): number {
  return row.indexOf(Math.max(...row));
}
