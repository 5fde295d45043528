import { input, linear, makeGraph, slice } from '../src/engine/graph/index.ts';
import { compile, tensor } from '../src/engine/runtime/index.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import { median, round, timeInTurns } from './measure.ts';
import { parameterCount, qwen3Model } from './qwen3.ts';

const BATCH = 4;
const LENGTH = 256;

/** Speed of a whole forward pass over 4 × 256 tokens, without the head, against raw matmul speed. */
export async function benchPrefill(): Promise<object> {
  const base = qwen3Model();
  const { config, family } = base.architecture;
  const batch = new PackedBatch(
    Array.from({ length: BATCH }, () => new Int32Array(LENGTH).fill(7)),
  );
  const tokens = BATCH * LENGTH;
  const raw = await rawProduct(tokens, config.hidden_size, config.intermediate_size);
  const times = await timeInTurns(
    { matmul: raw.run, prefill: () => base.hiddenStates(batch) },
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

/** One product of the model's largest layer, its result left inside the runtime. */
async function rawProduct(rows: number, inner: number, out: number) {
  const y = linear(input('x', ['M', inner]), input('w', [out, inner]));
  const corner = slice(slice(y, { axis: 0, end: 1 }), { axis: 1, end: 1 });
  const graph = await compile(makeGraph({ corner }));
  const random = (size: number) => Float32Array.from({ length: size }, () => Math.random() - 0.5);
  const feeds = {
    x: tensor(random(rows * inner), [rows, inner]),
    w: tensor(random(out * inner), [out, inner]),
  };
  return {
    flops: 2 * rows * inner * out,
    run: () => graph.run(feeds),
    dispose: () => graph.dispose(),
  };
}
