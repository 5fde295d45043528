import { sameShape, symbolsOf } from './dim.ts';
import { formatType, type Value } from './value.ts';

/** A computation from named inputs to named outputs. Values that no output needs are not part of it. */
export interface Graph {
  readonly inputs: Readonly<Record<string, Value>>;
  readonly outputs: Readonly<Record<string, Value>>;
}

/** Builds the graph that computes the outputs; its inputs are those that the outputs need. A symbol
 *  that is no axis of these is bound by one of the `binders`, which becomes an input too. */
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
      throw new Error(`Cannot build a graph: two different inputs are named "${name}"`);
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

/** All values that the roots need, each after its inputs. */
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

/** Rebuilds the roots with some values replaced: `replace` returns a replacement, or undefined to keep
 *  the op with its replaced inputs. */
export function substitute(
  roots: readonly Value[],
  replace: (value: Value) => Value | undefined,
): Value[] {
  const rebuilt = new Map<Value, Value>();
  const stack = [...roots];
  while (stack.length > 0) {
    const value = stack[stack.length - 1] as Value;
    if (!rebuilt.has(value)) {
      const replacement = replace(value);
      const pending = replacement ? [] : value.inputs.filter((input) => !rebuilt.has(input));
      if (pending.length > 0) {
        stack.push(...pending);
        continue;
      }
      rebuilt.set(value, replacement ?? withInputs(value, rebuilt));
    }
    stack.pop();
  }
  return roots.map((root) => rebuilt.get(root) as Value);
}

function withInputs(value: Value, rebuilt: ReadonlyMap<Value, Value>): Value {
  const inputs = value.inputs.map((input) => rebuilt.get(input) as Value);
  return inputs.every((input, i) => input === value.inputs[i]) ? value : { ...value, inputs };
}

/** Infers every type again and compares, which catches a pass that broke the graph. */
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
