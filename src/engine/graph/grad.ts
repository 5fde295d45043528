import { type Graph, inputName, makeGraph, substitute, topologicalOrder } from './graph.ts';
import { joinNeighbours } from './join-neighbours.ts';
import { add } from './ops/elementwise.ts';
import { sumTo } from './ops/reduce.ts';
import { constant, input } from './ops/source.ts';
import { formatType, type Value } from './value.ts';

/**
 * Which forward values the backward graph is given instead of computing them again.
 * `none`: only the graph's inputs; `matmul`: products with weights and what is marked by `keep`;
 * `all`: whatever it uses.
 */
export type SaveList = 'none' | 'matmul' | 'all';

/** Which outputs to differentiate with respect to which inputs. */
export interface GradOptions {
  /** Outputs to differentiate. A scalar's cotangent is 1; another's is fed as `d(name)`. */
  readonly of: readonly string[];
  /** Inputs whose gradients are wanted, returned as `d(name)`. */
  readonly wrt: readonly string[];
  readonly save?: SaveList;
}

/** The graphs that `grad` derives from one graph. */
export interface GradGraphs {
  /** The graph's own outputs, and the values to save as `saved(n)`. */
  readonly forward: Graph;
  /** Inputs of the graph, saved values and cotangents to gradients. */
  readonly backward: Graph;
  /** Both in one run: outputs and gradients; nothing is computed twice and nothing saved leaves the runtime. */
  readonly joint: Graph;
}

/**
 * Reverse-mode differentiation: dx = Σ over uses of vjp(use, dy), from the outputs back.
 *
 * The backward values are made over the forward values; the save list then cuts the whole:
 * a saved value becomes an input, and what is no longer reached falls away.
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
  return cut(graph, { gradients, wrt, save });
}

/** Name of the graph value that carries the gradient of `name`. */
export function gradientName(name: string): string {
  return `d(${name})`;
}

function lookUp(values: Graph['inputs'], name: string, option: string): Value {
  const value = values[name];
  if (value !== undefined && value.dtype === 'float32') return value;
  const found =
    value === undefined ? `the graph has ${Object.keys(values).join(', ')}` : formatType(value);
  throw new Error(
    `Cannot differentiate: ${option} "${name}" must be a float32 of the graph; ${found}`,
  );
}

function seed(graph: Graph, name: string): Value {
  const value = graph.outputs[name] as Value;
  if (value.shape.every((dim) => dim === 1)) {
    return constant(new Float32Array([1]), { shape: value.shape });
  }
  return input(gradientName(name), value.shape);
}

/** Walks back from the seeds, adding up cotangents, only along paths that lead to a target. */
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
    cotangents.set(value, sum === undefined ? part : (joinNeighbours(sum, part) ?? add(sum, part)));
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

/** Makes forward and backward graphs that meet at the saved values. */
function cut(
  graph: Graph,
  { gradients, wrt, save }: { gradients: readonly Value[]; wrt: readonly string[]; save: SaveList },
): GradGraphs {
  const order = topologicalOrder(Object.values(graph.outputs));
  const forwardValues = new Set(order);
  const products = keptProducts(order);
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
  const savedOutputs = [...saved].map(([value, stand]) => [inputName(stand), value] as const);
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

/**
 * Products with a weight, which has two axes, sums that continue one (LoRA, bias, residual): the sum
 * is what later ops read; and what is marked. The products inside attention are none of these.
 */
function keptProducts(order: readonly Value[]): ReadonlySet<Value> {
  const kept = new Set<Value>();
  for (const value of order) {
    const continues = value.op.name === 'add' && value.inputs.some((operand) => kept.has(operand));
    const isProduct = value.op.name === 'matmul' && value.inputs[1]!.shape.length === 2;
    if (continues || isProduct || value.op.name === 'keep') kept.add(value);
  }
  return kept;
}
