import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LoraAdapter } from '../../../src/base-setup/lora/lora-adapter.ts';
import { type Graph, grad, gradientName } from '../../../src/engine/graph/index.ts';
import { randomStream } from '../../../src/engine/random/index.ts';
import {
  type Backend,
  backendOf,
  compile,
  type Feeds,
  freeTensors,
  readTensor,
  type Tensor,
} from '../../../src/engine/runtime/index.ts';
import { createCache, Decoder } from '../../../src/generation/decoder.ts';
import type { BaseModel } from '../../../src/models/decoder/base-model.ts';
import { backward, forward } from '../../../src/models/decoder/forward.ts';
import { loadBase, readConfig } from '../../../src/models/decoder/load-model.ts';
import { PackedBatch } from '../../../src/models/decoder/packed-batch.ts';
import { freePass } from '../../../src/models/decoder/pass.ts';
import { runTokenHead } from '../../../src/models/decoder/token-head.ts';
import { buildLayer, layoutOf, readBlockGolden } from '../block-golden.ts';
import { callFunction } from '../engine/call-function.ts';
import { type Call, callOp } from '../engine/call-op.ts';
import { goldenFeeds, goldenGraph, readGoldens } from '../engine/golden-cases.ts';
import { pickFeeds } from '../engine/run-graph.ts';
import { makePpoTrainer } from '../ppo-trainer-setup.ts';

/** How far a device is from the processor in one case. */
export interface Difference {
  readonly name: string;
  /** Largest |device − cpu| in a tensor, relative to max(1, largest |cpu|). */
  readonly error: number;
}

type Numbers = Readonly<Record<string, ArrayLike<number>>>;

/** Every case of the conformance run on a device, compared with the processor. */
export async function* compareDevices(device: Backend): AsyncGenerator<Difference> {
  yield* compareGraphs(device);
  yield* compareModels(device);
  yield* compareUpdate(device);
}

/** Ops, functions and a decoder block, with their gradients. */
export async function* compareGraphs(device: Backend): AsyncGenerator<Difference> {
  yield* compareOps(device);
  yield* compareBlock(device);
}

/** The largest error of some cases. */
export async function worstOf(differences: AsyncIterable<Difference>): Promise<number> {
  let worst = 0;
  for await (const { error } of differences) worst = Math.max(worst, error);
  return worst;
}

/** Outputs and gradients of every op and every function of the goldens. */
async function* compareOps(device: Backend): AsyncGenerator<Difference> {
  const calls: Readonly<Record<string, Call>> = { ...callOp, ...callFunction };
  for (const golden of [...readGoldens('ops'), ...readGoldens('functions')]) {
    const graph = goldenGraph(calls[golden.function]!, golden);
    const feeds = pickFeeds(graph, goldenFeeds(golden));
    const run = (backend: Backend) => runOnce(graph, feeds, backend);
    yield { name: `${golden.function}: ${golden.name}`, error: await compare(run, device) };
  }
}

/** A decoder block with LoRA: output and all gradients. */
async function* compareBlock(device: Backend): AsyncGenerator<Difference> {
  const golden = readBlockGolden();
  const plan = layoutOf(golden.config, golden.lengths);
  const graph = buildLayer(golden.config, golden.lora, plan.form);
  const wrt = Object.keys(graph.inputs).filter((name) => golden.tensors[gradientName(name)]);
  const { joint } = grad(graph, { of: ['y'], wrt });
  const feeds = pickFeeds(joint, { ...golden.tensors, ...plan.feeds });
  const run = (backend: Backend) => runOnce(joint, feeds, backend);
  yield { name: `decoder block with ${wrt.length} gradients`, error: await compare(run, device) };
}

const families = fileURLToPath(new URL('../../fixtures/families', import.meta.url));

/** The tiny models: logits, logprobs, gradients of an adapter, and decoding with a cache. */
export async function* compareModels(
  device: Backend,
  names: readonly string[] = readdirSync(families),
): AsyncGenerator<Difference> {
  for (const name of names) {
    const { sequences } = JSON.parse(readFileSync(`${families}/${name}/golden.json`, 'utf8')) as {
      sequences: readonly { ids: readonly number[] }[];
    };
    const ids = sequences.map((sequence) => sequence.ids);
    const run = async (backend: Backend) => {
      const folder = `${families}/${name}`;
      const base = await loadBase(folder, await readConfig(folder), { device: backend });
      try {
        return { ...(await trainOnce(base, ids)), ...(await decodeSome(base, ids)) };
      } finally {
        await base.dispose();
      }
    };
    yield { name: `${name}: logits, gradients, decoding`, error: await compare(run, device) };
  }
}

/** One optimiser step of policy and value model: metrics, and weights that changed. */
export async function* compareUpdate(device: Backend): AsyncGenerator<Difference> {
  for (const layersPerSession of [1, 2]) {
    const run = async (backend: Backend): Promise<Numbers> => {
      const options = { layersPerSession, device: backend };
      const { golden, trainer, weights, policy } = await makePpoTrainer('every-term', {}, options);
      const { klCoef } = golden.config;
      const { metrics } = await trainer.trainStep(golden.experience, { klCoef });
      await policy.base.dispose();
      const { policy: changed, value } = weights();
      return {
        metrics: ['loss/policy_avg', 'policy/grad_norm', 'value/grad_norm'].map(
          (name) => metrics[name]!,
        ),
        ...Object.fromEntries([...changed].map(([name, data]) => [`policy ${name}`, data])),
        ...Object.fromEntries([...value].map(([name, data]) => [`value ${name}`, data])),
      };
    };
    const name = `PPO update, ${layersPerSession} layers per session`;
    yield { name, error: await compare(run, device) };
  }
}

/** Logits, log-probabilities and gradients of an adapter. */
async function trainOnce(base: BaseModel, ids: readonly (readonly number[])[]): Promise<Numbers> {
  const adapter = LoraAdapter.create({ r: 4, lora_alpha: 8 }, base.modules(), 1);
  const random = randomStream(1, 'conformance');
  for (const { data } of adapter.weights.values()) {
    for (let i = 0; i < data.length; i++) data[i] = 0.05 * random.normal();
  }
  const batch = new PackedBatch(ids, { share: true });
  const pass = await forward({ base, adapter }, batch, { save: 'matmul' });
  const logits = await base.logits(pass.hidden);
  const head = await runTokenHead(
    base,
    { hidden: pass.hidden, tokens: batch.tokens },
    { temperature: 0.7, gradients: 'logprob and entropy' },
  );
  const gradients: Record<string, ArrayLike<number>> = {};
  const rows = Int32Array.from(batch.tokens, (_, row) => Math.max(0, row - 1));
  const dHidden = await base.deviceRows.scatter(head.byLogprob!, rows, pass.hidden);
  freeTensors(head.byLogprob, head.byEntropy);
  const dx = await backward(pass, dHidden, (part) => Object.assign(gradients, part));
  const start = (await readTensor(dx)).data;
  freeTensors(dx);
  const { logprobs, entropies } = head;
  return { logits: logits.data, logprobs, entropies, ...gradients, dx: start };
}

/** Logits of prompts and of tokens after them, with texts that come, move and leave. */
async function decodeSome(base: BaseModel, ids: readonly (readonly number[])[]): Promise<Numbers> {
  const decoder = await Decoder.create(base);
  const cache = createCache(base, 3);
  const prompts = ids.slice(0, 2).map((one) => one.slice(0, 5));
  const { logits, pass } = await decoder.prefill(prompts, { slots: [0, 1], cache });
  freePass(pass);
  const rows: number[] = [...logits.data];
  const step = async (tokens: readonly number[]) => {
    rows.push(...(await decoder.step(Int32Array.from(tokens), cache)).logits.data);
  };
  await step([1, 2]);
  cache.copy(1, 2);
  await step([3, 4, 5]);
  cache.copy(2, 0);
  await step([6]);
  cache.free();
  await decoder.dispose();
  return { decoded: rows };
}

async function runOnce(graph: Graph, feeds: Feeds, device: Backend): Promise<Numbers> {
  const compiled = await compile(graph, { device, threads: 1 });
  const outputs = await compiled.run(feeds);
  await compiled.dispose();
  const arrays = Object.entries(outputs).map(([name, { data }]: [string, Tensor]) => [name, data]);
  return Object.fromEntries(arrays);
}

async function compare(
  run: (backend: Backend) => Promise<Numbers>,
  device: Backend,
): Promise<number> {
  return largestError(await run(backendOf('cpu')), await run(device));
}

/** Largest |actual − expected| / max(1, largest |expected| of the tensor); infinite if a number is NaN. Sums
 *  of terms that cancel are as exact as their terms, so a tensor has one scale. */
function largestError(expected: Numbers, actual: Numbers): number {
  let largest = 0;
  for (const [name, numbers] of Object.entries(expected)) {
    let [difference, scale] = [0, 1];
    for (let i = 0; i < numbers.length; i++) {
      const error = Math.abs(actual[name]![i]! - numbers[i]!);
      difference = Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(difference, error);
      scale = Math.max(scale, Math.abs(numbers[i]!));
    }
    largest = Math.max(largest, difference / scale);
  }
  return largest;
}
