import { assertDim, type Dim, formatShape, type Shape } from './dim.ts';

/** The data types of a graph. `float16` and `bfloat16` are only for storage, which `cast` reads;
 *  `int8` is only for weights, which `byteProduct` reads. */
export type DType = 'float32' | 'int32' | 'bool' | 'float16' | 'bfloat16' | 'int8';

export interface TensorType {
  readonly dtype: DType;
  readonly shape: Shape;
}

/** Attributes are plain data, so a graph can be printed, compared and hashed. */
export type Attributes = Readonly<Record<string, unknown>>;

/** A tensor of the graph: the output of `op` applied to `inputs`. Immutable. */
export interface Value extends TensorType {
  readonly op: Op;
  readonly inputs: readonly Value[];
  readonly attributes: Attributes;
}

/** A node as its own op sees it: typed inputs and attributes. */
export interface Node<I extends readonly Value[], A extends Attributes> {
  readonly inputs: I;
  readonly attributes: A;
  readonly output: Value;
}

/**
 * An operation: its name, its type rule and its gradient rule.
 *
 * `vjp` returns the cotangent of each input from the output's cotangent `dy` (null: no gradient).
 * An op without it stops gradients: its output is integer, boolean or piecewise constant, or the op
 * is only for decoding.
 * A cotangent may have the broadcast shape: `grad` sums it down to the input's shape.
 */
export interface Op<
  I extends readonly Value[] = readonly Value[],
  A extends Attributes = Attributes,
> {
  readonly name: string;
  infer(inputs: I, attributes: A): TensorType;
  vjp?(node: Node<I, A>, dy: Value): readonly (Value | null)[];
}

/** Keeps the op's literal name in its type: the lowering table is a mapped type over these names. */
export function defineOp<const N extends string, I extends readonly Value[], A extends Attributes>(
  op: Op<I, A> & { readonly name: N },
): Op<I, A> & { readonly name: N } {
  return op;
}

/** Applies an op: checks its inputs, infers the output's type. */
export function apply<I extends readonly Value[], A extends Attributes>(
  op: Op<I, A>,
  inputs: I,
  attributes: A,
): Value {
  const { dtype, shape } = op.infer(inputs, attributes);
  return { op, inputs, attributes, dtype, shape };
}

/** An error that names the op, the rule and the types of its inputs. */
export function typeError(op: string, rule: string, inputs: readonly TensorType[]): TypeError {
  return new TypeError(`Cannot apply ${op}: ${rule}, got ${inputs.map(formatType).join(' and ')}`);
}

export function formatType({ dtype, shape }: TensorType): string {
  return `${dtype}${formatShape(shape)}`;
}

/** Throws unless all inputs have the dtype. */
export function expectDType(op: string, dtype: DType, inputs: readonly Value[]): void {
  if (inputs.some((input) => input.dtype !== dtype)) {
    throw typeError(op, `inputs must be ${dtype}`, inputs);
  }
}

/** Converts a negative axis, which counts from the end; throws for an axis outside the rank. */
export function normalizeAxis(op: string, axis: number, rank: number): number {
  const normal = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || normal < 0 || normal >= rank) {
    throw new RangeError(
      `Cannot apply ${op}: axis ${axis} is not an axis of a rank-${rank} tensor`,
    );
  }
  return normal;
}

/** The broadcast shape of the inputs, or of some of their axes, as in NumPy. */
export function broadcastShapes(
  op: string,
  inputs: readonly Value[],
  shapes = inputs.map(({ shape }) => shape),
): Shape {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, i) => {
    const dims = shapes.map((shape) => shape[shape.length - rank + i] ?? 1);
    const size = dims.find((dim) => dim !== 1) ?? 1;
    if (dims.some((dim) => dim !== 1 && dim !== size)) {
      throw typeError(op, 'shapes must be equal or 1 on every axis', inputs);
    }
    return size;
  });
}

export function assertShape(shape: readonly Dim[]): void {
  for (const dim of shape) assertDim(dim);
}
