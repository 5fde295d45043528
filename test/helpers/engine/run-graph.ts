import type { Graph } from '../../../src/engine/graph/graph.ts';
import {
  type CompiledGraph,
  compile,
  type Feeds,
  type GraphInputs,
  tensor,
} from '../../../src/engine/runtime/index.ts';

/** Compiles a graph for one thread, which is best for small graphs, and frees it after use. */
export async function withCompiled<T>(
  graph: Graph,
  use: (compiled: CompiledGraph) => Promise<T>,
): Promise<T> {
  const compiled = await compile(graph, { threads: 1 });
  try {
    return await use(compiled);
  } finally {
    await compiled.dispose();
  }
}

/** Runs a graph once and returns each output as plain numbers. Feeds that are not its inputs are ignored. */
export async function runGraph(graph: Graph, feeds: Feeds): Promise<Record<string, number[]>> {
  const outputs = await withCompiled(graph, (compiled) => compiled.run(pickFeeds(graph, feeds)));
  return Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, [...data]]));
}

export function pickFeeds({ inputs }: GraphInputs, feeds: Feeds): Feeds {
  return Object.fromEntries(Object.entries(feeds).filter(([name]) => name in inputs));
}

/** A float32 tensor of the given numbers. */
export function floats(data: readonly number[], shape: readonly number[]) {
  return tensor(Float32Array.from(data), shape);
}

/** An int32 tensor of the given numbers. */
export function integers(data: readonly number[], shape: readonly number[]) {
  return tensor(Int32Array.from(data), shape);
}
