import { readFileSync } from 'node:fs';
import { grad, gradientName } from '../../../src/engine/graph/grad.ts';
import { type Graph, makeGraph } from '../../../src/engine/graph/graph.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import type { Feeds } from '../../../src/engine/runtime/index.ts';
import { type Call, callByName } from './call-op.ts';

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

export function readGoldens(name: string): readonly Golden[] {
  const url = new URL(`../../fixtures/engine/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')).cases;
}

/** Outputs and gradients of a call as a graph. */
export function goldenGraph(
  call: Call,
  { inputs, attributes, gradients, cotangents }: Golden,
): Graph {
  const values = Object.entries(inputs).map(
    ([name, { shape, dtype }]) => [name, input(name, shape, dtype)] as const,
  );
  const graph = makeGraph(callByName(call, Object.fromEntries(values), attributes));
  const wrt = Object.keys(gradients);
  return wrt.length === 0 ? graph : grad(graph, { of: Object.keys(cotangents), wrt }).joint;
}

/** Inputs and gradients of the outputs. */
export function goldenFeeds({ inputs, cotangents }: Golden): Feeds {
  return {
    ...mapTensors(inputs, (name) => name),
    ...mapTensors(cotangents, gradientName),
  };
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };

function mapTensors(tensors: GoldenTensors, rename: (name: string) => string): Feeds {
  const renamed = Object.entries(tensors).map(([name, { dtype, shape, data }]) => [
    rename(name),
    { dtype, shape, data: arrays[dtype].from(data) },
  ]);
  return Object.fromEntries(renamed);
}
