import {
  type Graph,
  grad,
  input,
  makeGraph,
  matmul,
  slice,
  type Value,
} from '../src/engine/graph/index.ts';
import {
  type CompiledGraph,
  compile,
  type Feeds,
  type Tensor,
  tensor,
} from '../src/engine/runtime/index.ts';
import { layerGraph, layerParts } from '../src/models/decoder/layer-graph.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import { median, residentMegabytes, round, timeInTurns } from './measure.ts';
import { qwen3Architecture } from './qwen3.ts';

/** One layer of Qwen3-0.6B, LoRA r = 16 on all seven linears. */
const architecture = qwen3Architecture();
const { config } = architecture;
const lora = { r: 16, lora_alpha: 32 };
const BATCH = 4;
const LENGTHS = [256, 64] as const;

/**
 * Speed of a decoder block against the raw speed of a matmul in the same process.
 *
 * Dense-equivalent GFLOPS count only the block's frozen weights: 2·params·tokens forward,
 * 4·params·tokens forward + backward; attention, norms and LoRA come on top and are not counted.
 * `matmul_gflops` is the block's largest product through one `run`, its result returned to
 * JavaScript; `kernel_gflops` the same with the result left inside the runtime.
 */
export async function benchBlock(): Promise<object> {
  const block = layerGraph(architecture, { lora });
  const wrt = ['x', ...Object.keys(block.inputs).filter((name) => name.includes('lora_'))];
  const graphs = grad(block, { of: ['y'], wrt, save: 'matmul' });
  const raw = rawProduct();
  const compiled = {
    matmul: await compile(raw.returned),
    kernel: await compile(raw.kept),
    forward: await compile(block),
    joint: await compile(graphs.joint),
    saving: await compile(graphs.forward),
    backward: await compile(graphs.backward),
  };
  const inputs = { ...block.inputs, ...graphs.joint.inputs };
  const result = {
    ...(await speeds(compiled, inputs)),
    rss_growth_mb: await rssGrowth(compiled.joint, inputs),
  };
  for (const graph of Object.values(compiled)) await graph.dispose();
  return result;
}

type Compiled = Record<
  'matmul' | 'kernel' | 'forward' | 'joint' | 'saving' | 'backward',
  CompiledGraph
>;

async function speeds(compiled: Compiled, inputs: Graph['inputs']) {
  const params = [...layerParts(architecture).modules.values()].reduce(
    (sum, [out, inner]) => sum + out * inner,
    0,
  );
  const rawFeeds = {
    x: randomTensor([1024, config.hidden_size]),
    w: randomTensor([config.intermediate_size, config.hidden_size]),
  };
  const works: Record<string, () => Promise<unknown>> = {
    matmul: () => compiled.matmul.run(rawFeeds),
    kernel: () => compiled.kernel.run(rawFeeds),
  };
  for (const length of LENGTHS) {
    const feeds = blockFeeds(inputs, length);
    works[`forward ${length}`] = () => compiled.forward.run(pick(feeds, compiled.forward));
    works[`joint ${length}`] = () => compiled.joint.run(pick(feeds, compiled.joint));
    works[`split ${length}`] = async () => {
      const saved = await compiled.saving.run(pick(feeds, compiled.saving));
      await compiled.backward.run(pick({ ...feeds, ...saved }, compiled.backward));
    };
  }
  const times = await timeInTurns(works, { rounds: 15 });
  const gflops = (name: string, flops: number) =>
    median((times[name] as number[]).map((ms) => flops / ms / 1e6));
  const productFlops = 2 * 1024 * config.hidden_size * config.intermediate_size;
  const raw = gflops('matmul', productFlops);
  const ratio = (name: string, length: number, perParam: number) =>
    round(gflops(`${name} ${length}`, perParam * params * BATCH * length) / raw);
  return {
    matmul_gflops: round(raw, 1),
    kernel_gflops: round(gflops('kernel', productFlops), 1),
    forward_ratio: ratio('forward', 256, 2),
    backward_ratio: ratio('joint', 256, 4),
    backward_ratio_split: ratio('split', 256, 4),
    forward_ratio_t64: ratio('forward', 64, 2),
    backward_ratio_t64: ratio('joint', 64, 4),
    backward_ratio_split_t64: ratio('split', 64, 4),
  };
}

/** Growth of resident memory over 200 forward + backward runs, after 50 to warm up. */
async function rssGrowth(joint: CompiledGraph, inputs: Graph['inputs']): Promise<number> {
  const feeds = pick(blockFeeds(inputs, 64), joint);
  const run = async (times: number) => {
    for (let i = 0; i < times; i++) await joint.run(feeds);
    return residentMegabytes();
  };
  const before = await run(50);
  return round((await run(200)) - before, 1);
}

function rawProduct(): { returned: Graph; kept: Graph } {
  const x = input('x', ['M', config.hidden_size]);
  const y = matmul(x, input('w', [config.intermediate_size, config.hidden_size]), { transB: true });
  const corner = slice(slice(y, { axis: 0, end: 1 }), { axis: 1, end: 1 });
  return { returned: makeGraph({ y }), kept: makeGraph({ corner }) };
}

function pick(feeds: Feeds, { inputs }: CompiledGraph): Feeds {
  return Object.fromEntries(Object.keys(inputs).map((name) => [name, feeds[name] as Tensor]));
}

function blockFeeds(inputs: Graph['inputs'], length: number): Feeds {
  const rows = BATCH * length;
  const batch = new PackedBatch(Array.from({ length: BATCH }, () => new Int32Array(length)));
  const feeds = batch.feeds(config);
  for (const [name, { shape }] of Object.entries(inputs) as [string, Value][]) {
    feeds[name] ??= randomTensor(shape.map((dim) => (dim === 'M' ? rows : Number(dim))));
  }
  return feeds;
}

function randomTensor(shape: readonly number[]): Tensor {
  const size = shape.reduce((product, dim) => product * dim, 1);
  return tensor(
    Float32Array.from({ length: size }, () => (Math.random() - 0.5) * 0.1),
    shape,
  );
}
