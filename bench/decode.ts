import { LoraAdapter } from '../src/base-setup/lora/lora-adapter.ts';
import type { RolloutPrecision } from '../src/generation/decode-weights.ts';
import { Decoder } from '../src/generation/decoder.ts';
import { KvCache } from '../src/generation/kv-cache.ts';
import type { BaseModel } from '../src/models/decoder/base-model.ts';
import { measureBandwidth } from './bandwidth.ts';
import { type BenchOptions, median, round, time } from './measure.ts';
import { runPeer } from './peer.ts';
import { parameterCount, qwen3Model } from './qwen3.ts';

const BATCHES = [1, 4, 8];
const PRECISIONS = ['f32', 'f32-feeds', 'int8'] as const;
const PROMPT_TOKENS = 64;
const NEW_TOKENS = 64;

/** Tokens per second at Qwen3-0.6B's shape with LoRA on q, k, v, o: prompts of 64, then 64 new tokens. */
export async function benchDecode({ python }: BenchOptions): Promise<object> {
  // Measured before our model allocates its memory.
  const peer = python && { peer: runPeer(python, 'generate.py', ...BATCHES.map(String)) };
  const bandwidth = await measureBandwidth();
  const base = await qwen3Model();
  const adapter = LoraAdapter.create(
    { r: 16, lora_alpha: 32, target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'] },
    base.modules(),
  );
  const results: object[] = [];
  for (const precision of PRECISIONS) {
    const decoder = await Decoder.create(base, { adapter, precision });
    for (const batch of BATCHES) {
      const ms = await stepTime(base, { decoder, batch });
      results.push({
        batch,
        precision,
        tokens_per_second: round((1000 * batch) / ms, 1),
        ms_per_step: round(ms, 1),
        bandwidth_fraction: round(weightBytes(base, precision) / ms / 1e6 / bandwidth),
      });
    }
    await decoder.dispose();
  }
  return { bandwidth_gbs: round(bandwidth, 1), results, ...(peer || {}) };
}

/** Median milliseconds per step, without sampling. */
async function stepTime(
  base: BaseModel,
  { decoder, batch }: { decoder: Decoder; batch: number },
): Promise<number> {
  const cache = new KvCache(base.architecture.config, batch);
  const prompt = Int32Array.from({ length: PROMPT_TOKENS }, (_, i) => i + 100);
  const slots = Array.from({ length: batch }, (_, slot) => slot);
  await decoder.prefill(
    slots.map(() => prompt),
    { slots, cache },
  );
  const times: number[] = [];
  for (let i = 0; i < NEW_TOKENS; i++) {
    times.push(await time(() => decoder.step(new Int32Array(batch).fill(7), cache)));
  }
  return median(times);
}

/** Bytes of weights that a step must read: int8 has a 4-byte scale for every 128 weights. */
function weightBytes(base: BaseModel, precision: RolloutPrecision): number {
  return parameterCount(base) * (precision === 'int8' ? 1 + 4 / 128 : 4);
}
