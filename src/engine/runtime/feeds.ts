import { evaluateDim, formatShape, isSymbol, type Shape } from '../graph/dim.ts';
import { formatType, type TensorType } from '../graph/value.ts';
import type { Tensor } from './tensor.ts';

/** Input tensors of a run, by name. */
export type Feeds = Readonly<Record<string, Tensor>>;

/** The types of a graph's inputs, by name. */
export interface GraphInputs {
  readonly inputs: Readonly<Record<string, TensorType>>;
}

/** The sizes of the graph's symbols in the feeds. */
export type Bindings = ReadonlyMap<string, number>;

/** Checks that feeds match the graph's inputs; returns the sizes of the symbols. */
export function bindFeeds(graph: GraphInputs, feeds: Feeds): Bindings {
  for (const name of Object.keys(feeds)) {
    if (graph.inputs[name] === undefined) {
      throw new Error(`Cannot run the graph: it has no input "${name}"; ${listInputs(graph)}`);
    }
  }
  const bindings = new Map<string, number>();
  for (const [name, value] of Object.entries(graph.inputs)) {
    const feed = feeds[name];
    if (feed === undefined) {
      throw new Error(`Cannot run the graph: input "${name}" (${formatType(value)}) is not fed`);
    }
    bindSymbols(value.shape, feed.shape, bindings);
  }
  for (const [name, value] of Object.entries(graph.inputs)) {
    expectFeed(name, { value, feed: feeds[name] as Tensor, bindings });
  }
  return bindings;
}

/** A shape with its symbols replaced by their sizes. */
export function resolveShape(shape: Shape, bindings: Bindings): number[] {
  return shape.map((dim) => evaluateDim(dim, (symbol) => bindings.get(symbol) ?? Number.NaN));
}

function bindSymbols(shape: Shape, actual: readonly number[], bindings: Map<string, number>): void {
  shape.forEach((dim, axis) => {
    const size = actual[axis];
    if (isSymbol(dim) && size !== undefined && !bindings.has(dim)) bindings.set(dim, size);
  });
}

function expectFeed(
  name: string,
  { value, feed, bindings }: { value: TensorType; feed: Tensor; bindings: Bindings },
): void {
  const expected = resolveShape(value.shape, bindings);
  const fits =
    feed.dtype === value.dtype &&
    feed.shape.length === expected.length &&
    expected.every((size, axis) => size === feed.shape[axis]);
  if (fits) return;
  const symbols = value.shape.some((dim) => typeof dim === 'string');
  const detail = symbols ? ` = ${formatShape(expected)} with the other inputs` : '';
  throw new TypeError(
    `Cannot run the graph: input "${name}" must be ${formatType(value)}${detail}, got ${formatType(feed)}`,
  );
}

function listInputs(graph: GraphInputs): string {
  return `its inputs are ${Object.keys(graph.inputs).join(', ')}`;
}
