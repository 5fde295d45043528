import { type Dim, dimAdd } from './dim.ts';
import { concat, concatOp, pad, padOp } from './ops/layout.ts';
import type { Value } from './value.ts';

/**
 * The sum of two padded tensors whose contents stand side by side, as one tensor; undefined where
 * they do not. So the cotangents of neighbouring slices come together without an addition.
 */
export function joinNeighbours(a: Value, b: Value): Value | undefined {
  const [first, second] = [readPad(a), readPad(b)];
  if (first === undefined || second === undefined || first.axis !== second.axis) return undefined;
  if (second.end === first.before) return joinNeighbours(b, a);
  if (first.end !== second.before) return undefined;
  const { axis, before } = first;
  const joined = concat([...partsOf(first.content, axis), ...partsOf(second.content, axis)], axis);
  return pad(joined, { axis, before, after: second.after });
}

/** What a pad adds zeros to, and where its content begins and ends. */
function readPad({ op, inputs, attributes }: Value) {
  if (op !== padOp) return undefined;
  const [content] = inputs as [Value];
  const { axis, before, after } = attributes as { axis: number; before: Dim; after: Dim };
  return { content, axis, before, after, end: dimAdd(before, content.shape[axis] as Dim) };
}

function partsOf(value: Value, axis: number): readonly Value[] {
  return value.op === concatOp && value.attributes.axis === axis ? value.inputs : [value];
}
