import { expect } from 'vitest';
import { grad, gradientName } from '../../../src/engine/graph/grad.ts';
import { makeGraph } from '../../../src/engine/graph/graph.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import type { CompiledGraph, GraphInputs, Tensor } from '../../../src/engine/runtime/index.ts';
import { expectClose } from '../expect-close.ts';
import { type Call, callByName } from './call-op.ts';
import { pickFeeds, withCompiled } from './run-graph.ts';
import { dtypeOfKind, type Sample, type SampleRun } from './samples/sample.ts';
import { randomOf, sampleInput, shuffle } from './samples/sample-input.ts';

type Floats = Readonly<Record<string, Tensor<'float32'>>>;

/** Half the distance between the two points of a difference. */
const STEP = 2 ** -8;
/**
 * The error of a central difference with step h: f‴h²/6 of the method and εf/h of the rounding. With
 * the ranges of the samples, |f‴| ≤ 200 and |f| ≤ 50 (ε = 2⁻²⁴): 5e-4 and 8e-4.
 */
const TOLERANCE = 2e-3;
/** How many elements of each input are changed; more would only cost time. */
const MOVED = 12;

/**
 * Compares the gradients of L = Σ c·y, for a random c, with central differences of L, both
 * computed by the runtime. One compiled graph is used for all runs; only sizes and elements differ.
 */
export async function expectGradient(
  call: Call,
  { sample, runs }: { sample: Sample; runs: readonly SampleRun[] },
): Promise<void> {
  const specs = Object.entries(sample.inputs);
  const inputs = specs.map(
    ([name, { shape, kind }]) => [name, input(name, shape, dtypeOfKind[kind])] as const,
  );
  const graph = makeGraph(callByName(call, Object.fromEntries(inputs), sample.attributes));
  const wrt = specs
    .filter(([, { kind, fixed }]) => dtypeOfKind[kind] === 'float32' && !fixed)
    .map(([name]) => name);
  const { joint } = grad(graph, { of: Object.keys(graph.outputs), wrt });
  await withCompiled(graph, (forward) =>
    withCompiled(joint, async (both) => {
      for (const run of runs) await expectGradientOfRun({ forward, both }, { sample, wrt, run });
    }),
  );
}

async function expectGradientOfRun(
  { forward, both }: { forward: CompiledGraph; both: CompiledGraph },
  { sample, wrt, run }: { sample: Sample; wrt: readonly string[]; run: SampleRun },
): Promise<void> {
  const specs = Object.entries(sample.inputs);
  const feeds = Object.fromEntries(
    specs.map(([name, spec]) => [name, sampleInput(name, spec, run)]),
  ) as Floats;
  const cotangents = sampleCotangents(await runFloats(forward, feeds), { joint: both, run });
  const gradients = await runFloats(both, { ...feeds, ...cotangents });

  const loss = async (name: string, data: Float32Array) => {
    const moved = { ...feeds, [name]: { ...feeds[name]!, data } };
    return dot(await runFloats(forward, moved), cotangents);
  };
  for (const name of wrt) {
    const { data } = feeds[name]!;
    const chosen = shuffle(randomOf(`${run.seed} moved ${name}`), data.length).slice(0, MOVED);
    const differences: number[] = [];
    for (const i of chosen) {
      const [above, below] = [data.with(i, data[i]! + STEP), data.with(i, data[i]! - STEP)];
      const rise = (await loss(name, above)) - (await loss(name, below));
      differences.push(rise / (above[i]! - below[i]!));
    }
    const gradient = gradients[gradientName(name)]!;
    expect(gradient.shape).toEqual(feeds[name]!.shape);
    expectClose(
      chosen.map((i) => gradient.data[i]!),
      {
        expected: differences,
        within: TOLERANCE,
        label: `${gradientName(name)} at [${chosen}]`,
      },
    );
  }
}

async function runFloats(compiled: CompiledGraph, feeds: Floats): Promise<Floats> {
  return (await compiled.run(pickFeeds(compiled, feeds))) as Floats;
}

/** c per output: 1 if the joint graph sets it itself, otherwise random. */
function sampleCotangents(
  outputs: Floats,
  { joint, run }: { joint: GraphInputs; run: SampleRun },
): Floats {
  const cotangents = Object.entries(outputs).map(([name, { shape }]) => {
    const cotangent = gradientName(name);
    const ones = { dtype: 'float32', shape, data: Float32Array.of(1) };
    const random = () => sampleInput(cotangent, { shape, kind: 'normal' }, run);
    return [cotangent, cotangent in joint.inputs ? random() : ones];
  });
  return Object.fromEntries(cotangents);
}

/** L = Σ c·y in float64, because float32 sums would hide small changes. */
function dot(outputs: Floats, cotangents: Floats): number {
  let total = 0;
  for (const [name, { data }] of Object.entries(outputs)) {
    const c = cotangents[gradientName(name)]!.data;
    data.forEach((y, i) => {
      total += c[i]! * y;
    });
  }
  return total;
}
