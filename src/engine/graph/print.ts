import { type Graph, inputName, topologicalOrder } from './graph.ts';
import { formatType, type Value } from './value.ts';

/**
 * Formats a graph as text, one op per line:
 *
 *     graph(x: float32[M,4], w: float32[2,4])
 *       %0 = matmul(x, w) {transB: true} : float32[M,2]
 *       return y = %0
 */
export function print(graph: Graph): string {
  const names = nameValues(graph);
  const nameOf = (value: Value) => names.get(value) as string;
  const inputs = Object.entries(graph.inputs).map(
    ([name, value]) => `${name}: ${formatType(value)}`,
  );
  const lines = topologicalOrder(Object.values(graph.outputs))
    .filter((value) => value.op.name !== 'input' && !isScalar(value))
    .map((value) => `  ${nameOf(value)} = ${formatCall(value, nameOf)} : ${formatType(value)}`);
  const outputs = Object.entries(graph.outputs).map(
    ([name, value]) => `${name} = ${nameOf(value)}`,
  );
  return [`graph(${inputs.join(', ')})`, ...lines, `  return ${outputs.join(', ')}`].join('\n');
}

/** `%n` for each computed value in order; an input's own name; a scalar constant's number. */
export function nameValues(graph: Graph): Map<Value, string> {
  const names = new Map<Value, string>();
  let computed = 0;
  for (const value of topologicalOrder(Object.values(graph.outputs))) {
    if (value.op.name === 'input') names.set(value, inputName(value));
    else if (isScalar(value)) names.set(value, String(scalarOf(value)));
    else names.set(value, `%${computed++}`);
  }
  return names;
}

function formatCall(value: Value, nameOf: (value: Value) => string): string {
  const attributes = Object.entries(value.attributes)
    .filter(
      ([key, attribute]) => key !== 'data' && attribute !== false && !isDefault(key, attribute),
    )
    .filter(([key]) => value.op.name !== 'constant' || (key !== 'dtype' && key !== 'shape'))
    .map(([key, attribute]) => `${key}: ${formatAttribute(attribute)}`);
  const suffix = attributes.length > 0 ? ` {${attributes.join(', ')}}` : '';
  return `${value.op.name}(${value.inputs.map(nameOf).join(', ')})${suffix}`;
}

/** JSON without quotes; numbers are separate, because JSON has no infinity. */
function formatAttribute(attribute: unknown): string {
  return typeof attribute === 'number'
    ? String(attribute)
    : JSON.stringify(attribute).replaceAll('"', '');
}

function isDefault(key: string, attribute: unknown): boolean {
  return key === 'alpha' && attribute === 1;
}

function isScalar(value: Value): boolean {
  return value.op.name === 'constant' && value.shape.length === 0;
}

function scalarOf(value: Value): number {
  return (value.attributes as { data: ArrayLike<number> }).data[0] as number;
}
