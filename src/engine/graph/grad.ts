import { type Dim, dimAdd } from './dim.ts';
import { type Graph, inputName, makeGraph, substitute, topologicalOrder } from './graph.ts';
import { add } from './ops/elementwise.ts';
import { concat, concatOp, pad, padOp } from './ops/layout.ts';
import { sumTo } from './ops/reduce.ts';
import { constant, input } from './ops/source.ts';
import { formatType, type Value } from './value.ts';

/** Which forward values are saved for the backward graph instead of being computed again.
 *  `none`: nothing; `matmul`: products with weights and values marked by `keep`; `all`: every value that
 *  it uses. */
export type SaveList = 'none' | 'matmul' | 'all';

/** Which outputs to differentiate with respect to which inputs. */
export interface GradOptions {
  /** Outputs to differentiate. A scalar has cotangent 1; other cotangents are fed as `d(name)`. */
  readonly of: readonly string[];
  /** Inputs to differentiate with respect to; gradients are returned as `d(name)`. */
  readonly wrt: readonly string[];
  readonly save?: SaveList;
}

/** The graphs that `grad` derives from one graph. */
export interface GradGraphs {
  /** Computes the graph's outputs, and the saved values as `saved(n)`. */
  readonly forward: Graph;
  /** Computes gradients from the graph's inputs, saved values and cotangents. */
  readonly backward: Graph;
  /** Computes outputs and gradients in one run; nothing is computed twice and no saved value leaves the runtime. */
  readonly joint: Graph;
}

/**
 * Reverse-mode differentiation: dx = Σ over uses of vjp(use, dy), from the outputs back.
 *
 * The backward values are built on the forward values; the save list then splits the result: a saved
 * value becomes an input, and values that are no longer reached disappear.
 */
export function grad(graph: Graph, { of, wrt, save = 'matmul' }: GradOptions): GradGraphs {
  const targets = wrt.map((name) => lookUp(graph.inputs, name, 'wrt'));
  const seeds = of.map((name) => [lookUp(graph.outputs, name, 'of'), seed(graph, name)] as const);
  const cotangents = pullBack(seeds, new Set(targets));
  const gradients = targets.map((target) => {
    const gradient = cotangents.get(target);
    if (gradient !== undefined) return gradient;
    throw new Error(
      `Cannot differentiate ${of.join(', ')} with respect to "${inputName(target)}": no gradient flows to it`,
    );
  });
  return splitAtSavedValues(graph, { gradients, wrt, save });
}

/** Name of the graph value that carries the gradient of `name`. */
export function gradientName(name: string): string {
  return `d(${name})`;
}

function lookUp(values: Graph['inputs'], name: string, option: string): Value {
  const value = values[name];
  if (value !== undefined && value.dtype === 'float32') return value;
  const got =
    value === undefined ? `the graph has ${Object.keys(values).join(', ')}` : formatType(value);
  throw new Error(
    `Cannot differentiate: ${option} "${name}" must be a float32 value of the graph; ${got}`,
  );
}

function seed(graph: Graph, name: string): Value {
  const value = graph.outputs[name] as Value;
  if (value.shape.every((dim) => dim === 1)) {
    return constant(new Float32Array([1]), { shape: value.shape });
  }
  return input(gradientName(name), value.shape);
}

/** Walks back from the seeds and adds up cotangents, only along paths that lead to a target. */
function pullBack(
  seeds: readonly (readonly [Value, Value])[],
  targets: ReadonlySet<Value>,
): Map<Value, Value> {
  const order = topologicalOrder(seeds.map(([value]) => value));
  const leads = new Set<Value>(targets);
  for (const value of order)
    if (value.inputs.some((operand) => leads.has(operand))) leads.add(value);

  const cotangents = new Map<Value, Value>();
  const accumulate = (value: Value, part: Value) => {
    const sum = cotangents.get(value);
    cotangents.set(value, sum === undefined ? part : (joinAdjacent(sum, part) ?? add(sum, part)));
  };
  for (const [value, dy] of seeds) accumulate(value, dy);
  for (const value of order.toReversed()) {
    const dy = cotangents.get(value);
    if (dy === undefined || !leads.has(value) || value.op.vjp === undefined) continue;
    const parts = value.op.vjp(
      { inputs: value.inputs, attributes: value.attributes, output: value },
      dy,
    );
    value.inputs.forEach((operand, i) => {
      const part = parts[i];
      if (part && leads.has(operand)) accumulate(operand, sumTo(part, operand.shape));
    });
  }
  return cotangents;
}

/** Builds forward and backward graphs that meet at the saved values. */
function splitAtSavedValues(
  graph: Graph,
  { gradients, wrt, save }: { gradients: readonly Value[]; wrt: readonly string[]; save: SaveList },
): GradGraphs {
  const order = topologicalOrder(Object.values(graph.outputs));
  const forwardValues = new Set(order);
  const products = savedProducts(order);
  const reached = new Set<Value>();
  substitute(gradients, (value) => {
    if (!forwardValues.has(value) || !isSaved(value, { save, products })) return undefined;
    reached.add(value);
    return value;
  });
  const saved = new Map(
    order
      .filter((value) => reached.has(value))
      .map((value, i) => [value, input(`saved(${i})`, value.shape, value.dtype)]),
  );
  const replaced = substitute(gradients, (value) => saved.get(value));
  const savedOutputs = [...saved].map(
    ([value, savedInput]) => [inputName(savedInput), value] as const,
  );
  const named = (values: readonly Value[]) =>
    Object.fromEntries(wrt.map((name, i) => [gradientName(name), values[i] as Value]));
  return {
    forward: makeGraph({ ...graph.outputs, ...Object.fromEntries(savedOutputs) }),
    backward: makeGraph(named(replaced), graph.inputs),
    joint: makeGraph({ ...graph.outputs, ...named(gradients) }),
  };
}

const sources = new Set(['input', 'constant']);
const views = new Set(['reshape', 'broadcastTo', 'cast', 'count']);
function isSaved(
  value: Value,
  { save, products }: { save: SaveList; products: ReadonlySet<Value> },
): boolean {
  if (save === 'none' || sources.has(value.op.name)) return false;
  return save === 'all' ? !views.has(value.op.name) : products.has(value);
}

/** Values that `matmul` saves: products with a weight, which has two axes; sums that extend one (LoRA,
 *  bias, residual), because later ops read the sum; and marked values. Products inside attention are
 *  not among them. */
function savedProducts(order: readonly Value[]): ReadonlySet<Value> {
  const products = new Set<Value>();
  for (const value of order) {
    const continues =
      value.op.name === 'add' && value.inputs.some((operand) => products.has(operand));
    const isProduct =
      value.op.name === 'byteProduct' ||
      value.op.name === 'adaptedLinear' ||
      (value.op.name === 'matmul' && value.inputs[1]!.shape.length === 2);
    if (continues || isProduct || value.op.name === 'keep') products.add(value);
  }
  return products;
}

/** The sum of two padded tensors as one tensor if their contents are adjacent, otherwise undefined.
 *  This combines the cotangents of adjacent slices without an addition. */
function joinAdjacent(a: Value, b: Value): Value | undefined {
  const [first, second] = [readPad(a), readPad(b)];
  if (first === undefined || second === undefined || first.axis !== second.axis) return undefined;
  if (second.end === first.before) return joinAdjacent(b, a);
  if (first.end !== second.before) return undefined;
  const { axis, before } = first;
  const joined = concat([...partsOf(first.content, axis), ...partsOf(second.content, axis)], axis);
  return pad(joined, { axis, before, after: second.after });
}

/** The content of a pad, and where it begins and ends. */
function readPad({ op, inputs, attributes }: Value) {
  if (op !== padOp) return undefined;
  const [content] = inputs as [Value];
  const { axis, before, after } = attributes as { axis: number; before: Dim; after: Dim };
  return { content, axis, before, after, end: dimAdd(before, content.shape[axis] as Dim) };
}

function partsOf(value: Value, axis: number): readonly Value[] {
  return value.op === concatOp && value.attributes.axis === axis ? value.inputs : [value];
}
