import { type Graph, makeGraph, type Value } from '../../src/engine/graph/index.ts';
import {
  type CompileOptions,
  compile,
  type Feeds,
  type Outputs,
} from '../../src/engine/runtime/index.ts';

/** Compiles, runs once and disposes. */
export async function runGraph(
  graph: Graph,
  feeds: Feeds,
  options?: CompileOptions,
): Promise<Outputs> {
  const compiled = await compile(graph, options);
  try {
    return await compiled.run(feeds);
  } finally {
    await compiled.dispose();
  }
}

/** Runs the graph of these outputs once. */
export function runValues(outputs: Readonly<Record<string, Value>>, feeds: Feeds = {}) {
  return runGraph(makeGraph(outputs), feeds);
}

/** The elements of an output as plain numbers. */
export function listOf(outputs: Outputs, name: string): number[] {
  return Array.from(outputs[name]?.data ?? []);
}
