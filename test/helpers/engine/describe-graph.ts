import type { Graph } from '../../../src/engine/graph/graph.ts';
import { print } from '../../../src/engine/graph/print.ts';
import { formatType } from '../../../src/engine/graph/value.ts';

/** How often an op occurs in a printed graph. */
export function countOps(graph: Graph, op: string): number {
  return print(graph).split(` = ${op}(`).length - 1;
}

/** The types of inputs or outputs by name. */
export function typesOf(values: Graph['inputs']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, formatType(value)]),
  );
}
