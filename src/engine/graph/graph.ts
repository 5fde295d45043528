import { sameShape, symbolsOf } from './dim.ts';
import { formatType, type Value } from './value.ts';

/** A program: named inputs to named outputs. What no output needs is not part of it. */
export interface Graph {
  readonly inputs: Readonly<Record<string, Value>>;
  readonly outputs: Readonly<Record<string, Value>>;
}

/**
 * Makes the graph that computes the outputs; its inputs are those which they reach. A symbol that
 * none of these has as an axis is bound by one of the `binders`, which then is an input too.
 */
export function makeGraph(
  outputs: Readonly<Record<string, Value>>,
  binders: Readonly<Record<string, Value>> = {},
): Graph {
  const inputs: Record<string, Value> = {};
  const order = topologicalOrder(Object.values(outputs));
  for (const value of order) {
    if (value.op.name !== 'input') continue;
    const name = inputName(value);
    if (inputs[name] !== undefined) {
      throw new Error(`Cannot make a graph: two different inputs are named "${name}"`);
    }
    inputs[name] = value;
  }
  for (const symbol of new Set(order.flatMap(({ shape }) => shape.flatMap(symbolsOf)))) {
    const binds = ([, { shape }]: [string, Value]) => shape.includes(symbol);
    const binder = Object.entries(binders).find(binds);
    if (!Object.entries(inputs).some(binds) && binder) inputs[binder[0]] = binder[1];
  }
  const graph = { inputs, outputs };
  check(graph);
  return graph;
}

export function inputName(value: Value): string {
  return (value.attributes as { name: string }).name;
}

/** Every value that the roots need, each after its inputs. */
export function topologicalOrder(roots: readonly Value[]): Value[] {
  const done = new Set<Value>();
  const stack: { value: Value; next: number }[] = roots
    .toReversed()
    .map((value) => ({ value, next: 0 }));
  while (stack.length > 0) {
    const top = stack[stack.length - 1] as { value: Value; next: number };
    const child = done.has(top.value) ? undefined : top.value.inputs[top.next++];
    if (child !== undefined) {
      if (!done.has(child)) stack.push({ value: child, next: 0 });
    } else {
      done.add(top.value);
      stack.pop();
    }
  }
  return [...done];
}

/**
 * The same values with some replaced: `replace` gives what stands in a value's stead, or undefined
 * to keep its op on the replaced inputs.
 */
export function substitute(
  roots: readonly Value[],
  replace: (value: Value) => Value | undefined,
): Value[] {
  const made = new Map<Value, Value>();
  const stack = [...roots];
  while (stack.length > 0) {
    const value = stack[stack.length - 1] as Value;
    if (!made.has(value)) {
      const replacement = replace(value);
      const pending = replacement ? [] : value.inputs.filter((input) => !made.has(input));
      if (pending.length > 0) {
        stack.push(...pending);
        continue;
      }
      made.set(value, replacement ?? withInputs(value, made));
    }
    stack.pop();
  }
  return roots.map((root) => made.get(root) as Value);
}

function withInputs(value: Value, made: ReadonlyMap<Value, Value>): Value {
  const inputs = value.inputs.map((input) => made.get(input) as Value);
  return inputs.every((input, i) => input === value.inputs[i]) ? value : { ...value, inputs };
}

/** Infers every type anew and compares: a pass that broke the graph is caught here. */
export function check(graph: Graph): void {
  for (const value of topologicalOrder(Object.values(graph.outputs))) {
    const inferred = value.op.infer(value.inputs, value.attributes);
    if (inferred.dtype !== value.dtype || !sameShape(inferred.shape, value.shape)) {
      throw new Error(
        `Internal: ${value.op.name} is marked ${formatType(value)} but infers ${formatType(inferred)}`,
      );
    }
    if (value.op.name === 'input' && graph.inputs[inputName(value)] !== value) {
      throw new Error(`Internal: the graph uses "${inputName(value)}", which is not its input`);
    }
  }
}
