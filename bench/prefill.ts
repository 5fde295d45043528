import { forward } from '../src/models/decoder/forward.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import { median, round, timeAlternately } from './measure.ts';
import { parameterCount, qwen3Model } from './qwen3.ts';
import { rawProduct } from './raw-product.ts';

const BATCH = 4;
const LENGTH = 256;

/** Speed of a whole forward pass over 4 × 256 tokens, without the head, against raw matmul speed. */
export async function benchPrefill(): Promise<object> {
  const base = await qwen3Model();
  const { config, family } = base.architecture;
  const batch = new PackedBatch(
    Array.from({ length: BATCH }, () => new Int32Array(LENGTH).fill(7)),
  );
  const tokens = BATCH * LENGTH;
  const raw = await rawProduct({
    rows: tokens,
    inner: config.hidden_size,
    out: config.intermediate_size,
  });
  const times = await timeAlternately(
    { matmul: raw.internal, prefill: () => forward({ base }, batch) },
    { rounds: 5, warmup: 1 },
  );
  const dense = parameterCount(base) - base.weight(family.names.embedding).data.length;
  const matmul = raw.flops / median(times.matmul) / 1e6;
  const prefill = (2 * dense * tokens) / median(times.prefill) / 1e6;
  await raw.dispose();
  await base.dispose();
  return {
    matmul_gflops: round(matmul, 1),
    prefill_gflops: round(prefill, 1),
    matmul_fraction: round(prefill / matmul),
    tokens_per_second: round((1000 * tokens) / median(times.prefill), 1),
  };
}
