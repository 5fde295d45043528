import { formatShape, type Shape, sizeOf } from '../dim.ts';
import { apply, assertShape, type DType, defineOp, type Value } from '../value.ts';

export type ConstantData = Float32Array | Int32Array | Uint8Array | Int8Array | Uint16Array;

/** Bytes of a tensor inside a file, such as one entry of a safetensors file. */
export interface FileSlice {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

type InputAttributes = {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
};

type ConstantAttributes = {
  readonly data: ConstantData | FileSlice;
  readonly dtype: DType;
  readonly shape: Shape;
};

const bytesPerElement: Record<DType, number> = {
  float32: 4,
  int32: 4,
  bool: 1,
  float16: 2,
  bfloat16: 2,
  int8: 1,
};

const arrayOf = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
} as const satisfies Record<DType, unknown>;

export const inputOp = defineOp({
  name: 'input',
  infer: (_: readonly [], { dtype, shape }: InputAttributes) => ({ dtype, shape }),
});

export const constantOp = defineOp({
  name: 'constant',
  infer: (_: readonly [], { dtype, shape }: ConstantAttributes) => ({ dtype, shape }),
});

/** A tensor fed at run time. */
export function input(name: string, shape: Shape, dtype: DType = 'float32'): Value {
  assertShape(shape);
  return apply(inputOp, [], { name, dtype, shape });
}

/** A tensor that is known when the graph is built: a scalar, an array, or bytes in a file. */
export function constant(
  data: number | ConstantData | FileSlice,
  type: { readonly dtype?: DType; readonly shape?: Shape } = {},
): Value {
  const dtype = type.dtype ?? 'float32';
  const shape = type.shape ?? [];
  const stored = typeof data === 'number' ? arrayOf[dtype].of(data) : data;
  if (shape.some((dim) => typeof dim !== 'number')) {
    throw new RangeError(
      `Cannot create a ${dtype}${formatShape(shape)} constant: its sizes must be numbers`,
    );
  }
  const expected = Number(sizeOf(shape)) * bytesPerElement[dtype];
  const actual = 'file' in stored ? stored.length : stored.byteLength;
  if (actual !== expected) {
    throw new RangeError(
      `Cannot create a ${dtype}${formatShape(shape)} constant: it must have ${expected} bytes, got ${actual}`,
    );
  }
  if (!('file' in stored) && !(stored instanceof arrayOf[dtype])) {
    throw new TypeError(
      `Cannot create a ${dtype} constant: its data must be a ${arrayOf[dtype].name}, got ${stored.constructor.name}`,
    );
  }
  return apply(constantOp, [], { data: stored, dtype, shape });
}

/** Converts a plain number to a constant. */
export function toValue(x: Value | number, dtype: DType = 'float32'): Value {
  return typeof x === 'number' ? constant(x, { dtype }) : x;
}
