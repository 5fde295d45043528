import { type Graph, topologicalOrder } from './graph.ts';
import { gatherRows, gatherRowsOp, permuteRowsOp } from './ops/gather.ts';
import { slice, sliceOp } from './ops/layout.ts';
import type { Value } from './value.ts';

/** Rewrites slices of gathered rows to gather only those rows: x[index][a:b] = x[index[a:b]]. */
export function sliceGathers({ inputs, outputs }: Graph): Graph {
  const rebuilt = new Map<Value, Value>();
  for (const value of topologicalOrder(Object.values(outputs))) {
    const operands = value.inputs.map((operand) => rebuilt.get(operand) as Value);
    const isSame = operands.every((operand, i) => operand === value.inputs[i]);
    const moved = isSame ? value : { ...value, inputs: operands };
    rebuilt.set(value, gatherSlice(moved) ?? moved);
  }
  const named = Object.entries(outputs).map(([name, value]) => [name, rebuilt.get(value) as Value]);
  return { inputs, outputs: Object.fromEntries(named) };
}

function gatherSlice({ op, inputs: [gather], attributes }: Value): Value | undefined {
  if (op !== sliceOp || attributes.axis !== 0 || gather === undefined) return undefined;
  if (gather.op !== gatherRowsOp && gather.op !== permuteRowsOp) return undefined;
  const [x, index] = gather.inputs as [Value, Value];
  const { start, end } = attributes as { start: number; end: number };
  return gatherRows(x, slice(index, { axis: 0, start, end }));
}
