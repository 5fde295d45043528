import { LoraAdapter } from '../src/base-setup/lora/lora-adapter.ts';
import { Decoder } from '../src/generation/decoder.ts';
import { KvCache } from '../src/generation/kv-cache.ts';
import type { BaseModel } from '../src/models/decoder/base-model.ts';
import { randomHead, zeroHead } from '../src/models/scalar-model.ts';
import { SFTModel } from '../src/models/sft-model.ts';
import { ValueModel } from '../src/models/value-model.ts';
import { residentMegabytes, round } from './measure.ts';
import { parameterCount, qwen3Model } from './qwen3.ts';

const lora = { r: 16, lora_alpha: 32, target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'] };

/**
 * Resident memory of Qwen3-0.6B's shape with policy, reference, value and reward loaded and used once,
 * over the bytes of one float32 copy of the base; then the same with an int8 decoder added.
 */
export async function benchMemory(): Promise<object> {
  const base = await qwen3Model();
  const baseBytes = 4 * parameterCount(base);
  const ratio = () => round((residentMegabytes() * 2 ** 20) / baseBytes);
  const adapter = await useRoles(base);
  const rssRatio = ratio();
  const decoder = await Decoder.create(base, { adapter, precision: 'int8' });
  const cache = new KvCache(base.architecture.config, 4);
  await decoder.prefill([prompt], { slots: [0], cache });
  await decoder.step(Int32Array.of(7), cache);
  const rssRatioInt8 = ratio();
  await decoder.dispose();
  await base.dispose();
  return { base_bytes: baseBytes, rss_ratio: rssRatio, rss_ratio_int8: rssRatioInt8 };
}

const prompt = Int32Array.from({ length: 64 }, (_, i) => i + 100);
const response = Int32Array.from({ length: 32 }, (_, i) => i + 500);

/** Creates the four roles over one base and runs each; returns the policy's adapter. */
async function useRoles(base: BaseModel): Promise<LoraAdapter> {
  const adapters = [0, 1, 2].map((seed) => LoraAdapter.create(lora, base.modules(), seed));
  const [policyAdapter, valueAdapter, rewardAdapter] = adapters as [
    LoraAdapter,
    LoraAdapter,
    LoraAdapter,
  ];
  const { hidden_size } = base.architecture.config;
  const policy = new SFTModel({ base, adapter: policyAdapter });
  const reference = new SFTModel({ base });
  const value = new ValueModel({ base, adapter: valueAdapter, head: zeroHead(hidden_size) });
  const reward = new ValueModel({ base, adapter: rewardAdapter, head: randomHead(hidden_size) });
  for (const model of [policy, reference]) await model.logprobs([prompt], [response]);
  for (const model of [value, reward]) await model.values([prompt], [response]);
  return policyAdapter;
}
