import type { Dim } from '../dim.ts';
import { sizeOf } from '../dim.ts';
import {
  apply,
  defineOp,
  expectDType,
  type Node,
  normalizeAxis,
  typeError,
  type Value,
} from '../value.ts';
import { cast, div, equal, mul } from './elementwise.ts';
import { broadcastTo, reshape } from './layout.ts';
import { constant } from './source.ts';

type Unary = readonly [Value];

type ReduceAttributes = {
  readonly axes: readonly number[];
};

function inferReduced(name: string) {
  return (inputs: Unary, { axes }: ReduceAttributes) => {
    expectDType(name, 'float32', inputs);
    const shape = inputs[0].shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    return { dtype: 'float32', shape } as const;
  };
}

/** Reduced axes are kept with size 1. */
export const sumOp = defineOp({
  name: 'sum',
  infer: inferReduced('sum'),
  vjp: ({ inputs: [x] }: Node<Unary, ReduceAttributes>, dy: Value) => [broadcastTo(dy, x.shape)],
});

/** Equal largest elements share the gradient. */
export const maxOfOp = defineOp({
  name: 'maxOf',
  infer: inferReduced('maxOf'),
  vjp({ inputs: [x], attributes: { axes }, output }: Node<Unary, ReduceAttributes>, dy: Value) {
    const isMax = cast(equal(x, output), 'float32');
    return [mul(div(dy, sum(isMax, axes)), isMax)];
  },
});

/** The number of elements along the axes as a float32 scalar; a symbolic size is only known at run time. */
export const countOp = defineOp({
  name: 'count',
  infer: (_: Unary, __: ReduceAttributes) => ({ dtype: 'float32', shape: [] as Dim[] }) as const,
});

/** Σ over axes (all by default), which are kept with size 1. */
export function sum(x: Value, axes?: readonly number[]): Value {
  const normal = normalizeAxes('sum', x, axes);
  return normal.length === 0 ? x : apply(sumOp, [x], { axes: normal });
}

/** Largest element over axes (all by default), which stay with size 1. */
export function maxOf(x: Value, axes?: readonly number[]): Value {
  const normal = normalizeAxes('maxOf', x, axes);
  return normal.length === 0 ? x : apply(maxOfOp, [x], { axes: normal });
}

/** Average over axes (all by default), which stay with size 1. */
export function mean(x: Value, axes?: readonly number[]): Value {
  return div(sum(x, axes), count(x, axes));
}

/** Number of elements that the axes span (all by default), as a float32 scalar. */
export function count(x: Value, axes?: readonly number[]): Value {
  const normal = normalizeAxes('count', x, axes);
  const size = sizeOf(normal.map((axis) => x.shape[axis] as Dim));
  return typeof size === 'number' ? constant(size) : apply(countOp, [x], { axes: normal });
}

/** Sums a broadcast tensor to its original shape: the gradient of broadcasting. */
export function sumTo(x: Value, shape: readonly Dim[]): Value {
  const extra = x.shape.length - shape.length;
  const axes = x.shape.flatMap((dim, axis) =>
    axis < extra || (shape[axis - extra] === 1 && dim !== 1) ? [axis] : [],
  );
  return reshape(sum(x, axes), shape);
}

function normalizeAxes(op: string, x: Value, axes?: readonly number[]): number[] {
  const rank = x.shape.length;
  const normal = (axes ?? x.shape.map((_, axis) => axis)).map((axis) =>
    normalizeAxis(op, axis, rank),
  );
  if (new Set(normal).size < normal.length) {
    throw typeError(op, `axes [${axes}] must name each axis once`, [x]);
  }
  return normal;
}
