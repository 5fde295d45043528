import { grad } from '../src/engine/graph/index.ts';
import {
  type CompiledGraph,
  compile,
  type Feeds,
  type Tensor,
} from '../src/engine/runtime/index.ts';
import { layerGraph, layerParts } from '../src/models/decoder/layer-graph.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import { type BenchOptions, median, residentMegabytes, round, timeAlternately } from './measure.ts';
import { runPeer } from './peer.ts';
import { qwen3Architecture } from './qwen3.ts';
import { randomTensor, rawProduct } from './raw-product.ts';

/** One layer of Qwen3-0.6B, LoRA r = 16 on all seven linears. */
const architecture = qwen3Architecture();
const { config } = architecture;
const lora = { r: 16, lora_alpha: 32 };
const BATCH = 4;

/**
 * Speed of a decoder block relative to a raw matmul in the same process.
 *
 * Dense-equivalent GFLOPS count only the block's frozen weights: 2·params·tokens forward,
 * 4·params·tokens forward + backward; attention, norms and LoRA are extra and not counted.
 * The raw product is the block's largest, with its result kept inside the runtime; `returned_gflops`
 * is its speed when the result is returned to JavaScript. `backward` is forward + backward in one
 * run; `…_split` runs them separately and saves the forward run's products in between.
 */
export async function benchBlock({ python }: BenchOptions): Promise<object> {
  const raw = await rawProduct({
    rows: 1024,
    inner: config.hidden_size,
    out: config.intermediate_size,
  });
  const long = await buildBlock(256);
  const short = await buildBlock(64);
  const times = await timeAlternately(
    {
      matmul: raw.internal,
      returned: raw.returned,
      forward: long.forward,
      joint: long.joint,
      split: long.split,
      forward_t64: short.forward,
      joint_t64: short.joint,
      split_t64: short.split,
    },
    { rounds: 15 },
  );
  const gflops = (name: keyof typeof times, flops: number) => flops / median(times[name]) / 1e6;
  const matmul = gflops('matmul', raw.flops);
  const ratio = (name: keyof typeof times, flops: number) => round(gflops(name, flops) / matmul);
  const result = {
    matmul_gflops: round(matmul, 1),
    returned_gflops: round(gflops('returned', raw.flops), 1),
    forward_ratio: ratio('forward', 2 * long.products),
    backward_ratio: ratio('joint', 4 * long.products),
    backward_ratio_split: ratio('split', 4 * long.products),
    forward_ratio_t64: ratio('forward_t64', 2 * short.products),
    backward_ratio_t64: ratio('joint_t64', 4 * short.products),
    backward_ratio_split_t64: ratio('split_t64', 4 * short.products),
    rss_growth_mb: await rssGrowth(short.joint),
    forward_ms: round(median(times.forward), 1),
    backward_ms: round(median(times.joint), 1),
    forward_ms_t64: round(median(times.forward_t64), 1),
    backward_ms_t64: round(median(times.joint_t64), 1),
    ...(python && { peer: runPeer(python, 'block.py') }),
  };
  for (const work of [raw, long, short]) await work.dispose();
  return result;
}

/** Builds the block for a batch of sequences of equal length, with random weights. */
async function buildBlock(length: number) {
  const batch = new PackedBatch(Array.from({ length: BATCH }, () => new Int32Array(length)));
  const plan = batch.plan(config);
  const block = layerGraph(architecture, { lora, ...plan.form });
  const wrt = ['x', ...Object.keys(block.inputs).filter((name) => name.includes('lora_'))];
  const graphs = grad(block, { of: ['y'], wrt, save: 'matmul' });
  const [forward, joint, saving, backward] = (await Promise.all(
    // As in training: passes that save activations release their memory (docs/decisions/0012).
    [block, graphs.joint, graphs.forward, graphs.backward].map((graph) =>
      compile(graph, { arena: graph !== graphs.forward }),
    ),
  )) as [CompiledGraph, CompiledGraph, CompiledGraph, CompiledGraph];
  const feeds: Record<string, Tensor> = { ...plan.feeds };
  for (const [name, { shape }] of Object.entries(joint.inputs)) {
    feeds[name] ??= randomTensor(shape.map((dim) => (dim === 'M' ? BATCH * length : Number(dim))));
  }
  const modules = [...layerParts(architecture).modules.values()];
  return {
    /** Multiplications of a weight by an activation. */
    products: BATCH * length * modules.reduce((sum, [out, inner]) => sum + out * inner, 0),
    forward: () => forward.run(pick(feeds, forward)),
    joint: () => joint.run(pick(feeds, joint)),
    split: async () => {
      const saved = await saving.run(pick(feeds, saving));
      return backward.run(pick({ ...feeds, ...saved }, backward));
    },
    async dispose() {
      for (const graph of [forward, joint, saving, backward]) await graph.dispose();
    },
  };
}

/** Growth of resident memory over 200 runs, after a warm-up of 50. */
async function rssGrowth(run: () => Promise<unknown>): Promise<number> {
  const repeat = async (times: number) => {
    for (let i = 0; i < times; i++) await run();
    return residentMegabytes();
  };
  const before = await repeat(50);
  return round((await repeat(200)) - before, 1);
}

function pick(feeds: Feeds, { inputs }: CompiledGraph): Feeds {
  return Object.fromEntries(Object.keys(inputs).map((name) => [name, feeds[name] as Tensor]));
}
