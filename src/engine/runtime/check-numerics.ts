import { formatShape } from '../graph/dim.ts';
import { type Graph, makeGraph, topologicalOrder } from '../graph/graph.ts';
import { nameValues } from '../graph/print.ts';
import { formatType } from '../graph/value.ts';
import { isOnHost } from './device-tensor.ts';
import type { Feeds } from './feeds.ts';
import type { Tensor } from './tensor.ts';

/** A graph that returns every float32 value, with a description of each. */
export interface Watch {
  readonly graph: Graph;
  /** Names of the original graph's outputs. */
  readonly outputs: readonly string[];
  /** The call that computes each watched output, in order: `%3 = log(%2: float32[M])`. */
  readonly calls: ReadonlyMap<string, string>;
}

/** Adds every computed float32 value to the outputs of a graph. */
export function watchAllValues(graph: Graph): Watch {
  const names = nameValues(graph);
  const values = topologicalOrder(Object.values(graph.outputs)).filter(
    ({ op, dtype }) => dtype === 'float32' && op.name !== 'constant' && op.name !== 'input',
  );
  const named = values.map((value) => [names.get(value) as string, value] as const);
  const calls = named.map(([name, { op, inputs }]) => {
    const operands = inputs.map((operand) => `${names.get(operand)}: ${formatType(operand)}`);
    return [name, `${name} = ${op.name}(${operands.join(', ')})`] as const;
  });
  return {
    graph: makeGraph({ ...graph.outputs, ...Object.fromEntries(named) }),
    outputs: Object.keys(graph.outputs),
    calls: new Map(calls),
  };
}

/** Throws if a NaN was fed or computed, and names where it appeared first. */
export function expectNoNaN(
  { calls }: Watch,
  feeds: Feeds,
  values: Readonly<Record<string, Tensor>>,
): void {
  for (const [name, feed] of Object.entries(feeds)) {
    // Values in the memory of a device were checked as outputs of the graph that computed them.
    if (isOnHost(feed) && feed.dtype === 'float32' && feed.data.some(Number.isNaN)) {
      throw new Error(
        `Found NaN: input "${name}" of shape ${formatShape(feed.shape)} already contains it`,
      );
    }
  }
  for (const [name, call] of calls) {
    const { data, shape } = values[name] as Tensor;
    if (data.some(Number.isNaN)) {
      throw new Error(
        `Found NaN: ${call} produced the first one, in an output of shape ${formatShape(shape)}`,
      );
    }
  }
}
