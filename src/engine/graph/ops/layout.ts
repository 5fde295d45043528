import { type Dim, dimAdd, dimSub, formatShape, type Shape, sameShape, sizeOf } from '../dim.ts';
import {
  apply,
  assertShape,
  broadcastShapes,
  defineOp,
  type Node,
  normalizeAxis,
  typeError,
  type Value,
} from '../value.ts';

type Unary = readonly [Value];

type ShapeAttributes = {
  readonly shape: Shape;
};

/** Same elements in the same order with another shape. */
export const reshapeOp = defineOp({
  name: 'reshape',
  infer(inputs: Unary, { shape }: ShapeAttributes) {
    const [x] = inputs;
    assertShape(shape);
    if (sizeOf(shape) !== sizeOf(x.shape)) {
      throw typeError('reshape', `${formatShape(shape)} must have as many elements`, inputs);
    }
    return { dtype: x.dtype, shape };
  },
  vjp: ({ inputs: [x] }: Node<Unary, ShapeAttributes>, dy: Value) => [reshape(dy, x.shape)],
});

/** Repeats axes of size 1 and adds leading axes; its gradient sums over them. */
export const broadcastToOp = defineOp({
  name: 'broadcastTo',
  infer(inputs: Unary, { shape }: ShapeAttributes) {
    const [x] = inputs;
    assertShape(shape);
    if (!sameShape(broadcastShapes('broadcastTo', [x, { ...x, shape }]), shape)) {
      throw typeError('broadcastTo', `the input must broadcast to ${formatShape(shape)}`, inputs);
    }
    return { dtype: x.dtype, shape };
  },
  vjp: (_: Node<Unary, ShapeAttributes>, dy: Value) => [dy],
});

type TransposeAttributes = {
  readonly permutation: readonly number[];
};

/** Reorders the axes by a permutation. */
export const transposeOp = defineOp({
  name: 'transpose',
  infer(inputs: Unary, { permutation }: TransposeAttributes) {
    const [x] = inputs;
    const isPermutation =
      permutation.length === x.shape.length &&
      x.shape.every((_, axis) => permutation.includes(axis));
    if (!isPermutation) {
      throw typeError('transpose', `[${permutation}] must name every axis once`, inputs);
    }
    return { dtype: x.dtype, shape: permutation.map((axis) => x.shape[axis] as Dim) };
  },
  vjp: ({ attributes: { permutation } }: Node<Unary, TransposeAttributes>, dy: Value) => [
    transpose(
      dy,
      permutation.map((_, axis) => permutation.indexOf(axis)),
    ),
  ],
});

type SliceAttributes = {
  readonly axis: number;
  readonly start: Dim;
  readonly end: Dim;
};

/** Elements `start` to `end` (excluded) of one axis. */
export const sliceOp = defineOp({
  name: 'slice',
  infer(inputs: Unary, { axis, start, end }: SliceAttributes) {
    const [x] = inputs;
    const size = x.shape[axis] as Dim;
    const [from, to, length] = [start, end, dimSub(end, start)];
    const outside = (dim: Dim) => typeof dim === 'number' && dim < 0;
    if (outside(from) || outside(length) || outside(dimSub(size, to))) {
      throw typeError('slice', `${start}:${end} must be inside axis ${axis}`, inputs);
    }
    return { dtype: x.dtype, shape: x.shape.with(axis, length) };
  },
  vjp({ inputs: [x], attributes: { axis, start, end } }: Node<Unary, SliceAttributes>, dy: Value) {
    return [pad(dy, { axis, before: start, after: dimSub(x.shape[axis] as Dim, end) })];
  },
});

type PadAttributes = {
  readonly axis: number;
  readonly before: Dim;
  readonly after: Dim;
};

/** Adds zeros before and after, along one axis. */
export const padOp = defineOp({
  name: 'pad',
  infer(inputs: Unary, { axis, before, after }: PadAttributes) {
    const [x] = inputs;
    if ([before, after].some((zeros) => typeof zeros === 'number' && zeros < 0)) {
      throw typeError('pad', `before and after must be ≥ 0 (${before} and ${after})`, inputs);
    }
    const size = dimAdd(dimAdd(before, x.shape[axis] as Dim), after);
    return { dtype: x.dtype, shape: x.shape.with(axis, size) };
  },
  vjp({ inputs: [x], attributes: { axis, before } }: Node<Unary, PadAttributes>, dy: Value) {
    return [slice(dy, { axis, start: before, end: dimAdd(before, x.shape[axis] as Dim) })];
  },
});

type ConcatAttributes = {
  readonly axis: number;
};

/** Joins tensors along one axis. */
export const concatOp = defineOp({
  name: 'concat',
  infer(inputs: readonly Value[], { axis }: ConcatAttributes) {
    const first = inputs[0];
    const others = ({ shape }: Value) => shape.toSpliced(axis, 1);
    const fits = (x: Value) =>
      x.dtype === first?.dtype &&
      x.shape.length === first.shape.length &&
      sameShape(others(x), others(first));
    if (first === undefined || !inputs.every(fits)) {
      throw typeError('concat', `inputs must agree on dtype and on every axis but ${axis}`, inputs);
    }
    const size = inputs.map((x) => x.shape[axis] as Dim).reduce(dimAdd);
    return { dtype: first.dtype, shape: first.shape.with(axis, size) };
  },
  vjp({ inputs, attributes: { axis } }: Node<readonly Value[], ConcatAttributes>, dy: Value) {
    return split(
      dy,
      inputs.map((x) => x.shape[axis] as Dim),
      axis,
    );
  },
});

/** Same elements in the same order with another shape. */
export function reshape(x: Value, shape: Shape): Value {
  return sameShape(x.shape, shape) ? x : apply(reshapeOp, [x], { shape });
}

/** Repeats axes of size 1 and adds leading axes until x has the shape. */
export function broadcastTo(x: Value, shape: Shape): Value {
  return sameShape(x.shape, shape) ? x : apply(broadcastToOp, [x], { shape });
}

/** Reorders the axes: axis i of the result is axis permutation[i] of x. */
export function transpose(x: Value, permutation: readonly number[]): Value {
  return apply(transposeOp, [x], { permutation });
}

/** Elements `start` to `end` (excluded) of one axis; the last axis by default. */
export function slice(
  x: Value,
  { axis = -1, start = 0, end }: { axis?: number; start?: Dim; end?: Dim },
): Value {
  const normal = normalizeAxis('slice', axis, x.shape.length);
  const size = x.shape[normal] as Dim;
  const isWhole = start === 0 && (end === undefined || end === size);
  return isWhole ? x : apply(sliceOp, [x], { axis: normal, start, end: end ?? size });
}

/** Adds zeros before and after the elements of one axis; the last axis by default. */
export function pad(
  x: Value,
  { axis = -1, before = 0, after = 0 }: { axis?: number; before?: Dim; after?: Dim },
): Value {
  const normal = normalizeAxis('pad', axis, x.shape.length);
  return before === 0 && after === 0 ? x : apply(padOp, [x], { axis: normal, before, after });
}

/** Joins tensors along one axis; the last axis by default. */
export function concat(values: readonly Value[], axis = -1): Value {
  if (values.length === 0)
    throw new TypeError('Cannot apply concat: there must be at least one input');
  const rank = values[0]?.shape.length ?? 0;
  return apply(concatOp, values, { axis: normalizeAxis('concat', axis, rank) });
}

/** Splits one axis into consecutive pieces of the given sizes. */
export function split(x: Value, sizes: readonly Dim[], axis = -1): Value[] {
  const total = sizes.reduce(dimAdd, 0);
  const normal = normalizeAxis('split', axis, x.shape.length);
  if (total !== x.shape[normal]) {
    throw typeError('split', `sizes must add up to axis ${axis} (${sizes.join(' + ')})`, [x]);
  }
  let start: Dim = 0;
  return sizes.map((size) => {
    const piece = slice(x, { axis: normal, start, end: dimAdd(start, size) });
    start = dimAdd(start, size);
    return piece;
  });
}
