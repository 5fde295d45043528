import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { grad, gradientName } from '../../../src/engine/graph/grad.ts';
import { type Graph, makeGraph } from '../../../src/engine/graph/graph.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import type { Feeds, Tensor } from '../../../src/engine/runtime/index.ts';
import { expectClose } from '../expect-close.ts';
import { type Call, callByName } from './call-op.ts';
import { pickFeeds, withCompiled } from './run-graph.ts';

interface GoldenTensor {
  readonly dtype: 'float32' | 'int32' | 'bool';
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

type GoldenTensors = Readonly<Record<string, GoldenTensor>>;

/** Written by tools/oracle/engine/make_goldens.py. `gradients` is empty if there are none. */
export interface Golden {
  readonly function: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly inputs: GoldenTensors;
  readonly outputs: GoldenTensors;
  readonly cotangents: GoldenTensors;
  readonly gradients: GoldenTensors;
}

/** Both sides are float32: allows a few roundings of the largest term. */
const TOLERANCE = 1e-5;

export function readGoldens(name: string): readonly Golden[] {
  const url = new URL(`../../fixtures/engine/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')).cases;
}

/** Compares outputs and gradients of a call with the golden's. */
export async function expectGolden(call: Call, golden: Golden): Promise<void> {
  const graph = graphOf(call, golden);
  const feeds: Feeds = {
    ...mapTensors(golden.inputs, (name) => name),
    ...mapTensors(golden.cotangents, gradientName),
  };
  const results = await withCompiled(graph, (compiled) => compiled.run(pickFeeds(graph, feeds)));
  const expected = {
    ...golden.outputs,
    ...Object.fromEntries(
      Object.entries(golden.gradients).map(([name, value]) => [gradientName(name), value]),
    ),
  };
  expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { dtype, shape, data }] of Object.entries(expected)) {
    const actual = results[name] as Tensor;
    expect({ dtype: actual.dtype, shape: actual.shape }, name).toEqual({ dtype, shape });
    expectClose(actual.data, { expected: data, within: TOLERANCE, label: name });
  }
}

function graphOf(call: Call, { inputs, attributes, gradients, cotangents }: Golden): Graph {
  const values = Object.entries(inputs).map(
    ([name, { shape, dtype }]) => [name, input(name, shape, dtype)] as const,
  );
  const graph = makeGraph(callByName(call, Object.fromEntries(values), attributes));
  const wrt = Object.keys(gradients);
  return wrt.length === 0 ? graph : grad(graph, { of: Object.keys(cotangents), wrt }).joint;
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };

function mapTensors(tensors: GoldenTensors, rename: (name: string) => string): Feeds {
  const renamed = Object.entries(tensors).map(([name, { dtype, shape, data }]) => [
    rename(name),
    { dtype, shape, data: arrays[dtype].from(data) },
  ]);
  return Object.fromEntries(renamed);
}
