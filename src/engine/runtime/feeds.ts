import { evaluateDim, formatShape, isSymbol, type Shape } from '../graph/dim.ts';
import { formatType, type TensorType } from '../graph/value.ts';
import type { Tensor } from './tensor.ts';

/** Input tensors of a run, by name. */
export type Feeds = Readonly<Record<string, Tensor>>;

/** What a graph is fed, by name. */
export interface Inputs {
  readonly inputs: Readonly<Record<string, TensorType>>;
}

/** Sizes that the feeds give to the graph's symbols. */
export type Bindings = ReadonlyMap<string, number>;

/** Refuses feeds that do not fit the graph's inputs; returns what they bind the symbols to. */
export function bindFeeds(graph: Inputs, feeds: Feeds): Bindings {
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

/** A shape with the symbols that are bound replaced by their sizes. */
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
  const wanted = resolveShape(value.shape, bindings);
  const fits =
    feed.dtype === value.dtype &&
    feed.shape.length === wanted.length &&
    wanted.every((size, axis) => size === feed.shape[axis]);
  if (fits) return;
  const symbols = value.shape.some((dim) => typeof dim === 'string');
  const detail = symbols ? ` = ${formatShape(wanted)} with the other inputs` : '';
  throw new TypeError(
    `Cannot run the graph: input "${name}" must be ${formatType(value)}${detail}, got ${formatType(feed)}`,
  );
}

function listInputs(graph: Inputs): string {
  return `its inputs are ${Object.keys(graph.inputs).join(', ')}`;
}
