import { sameShape } from '../dim.ts';
import { apply, defineOp, expectDType, typeError, type Value } from '../value.ts';
import { abs, div, mul } from './elementwise.ts';
import { maxOf } from './reduce.ts';

type None = Readonly<Record<string, never>>;

/** The byte that represents 0 in a row. */
export const ZERO_BYTE = 128;

/** Quantizes rows to bytes: q = round(x/scale) + 128, with one scale per row, [M, 1]. */
export const toBytesOp = defineOp({
  name: 'toBytes',
  infer(inputs: readonly [Value, Value], _: None) {
    const [x, scale] = inputs;
    expectDType('toBytes', 'float32', inputs);
    if (x.shape.length !== 2 || !sameShape(scale.shape, [x.shape[0]!, 1])) {
      throw typeError('toBytes', 'rows must be a matrix with one scale per row', inputs);
    }
    return { dtype: 'uint8', shape: x.shape } as const;
  },
});

/** Product of byte rows and a byte weight [in, out] with one scale per column:
 *  y[m, n] = scale[n] · Σ_k (q[m, k] − 128)·w[k, n]. */
export const byteMatmulOp = defineOp({
  name: 'byteMatmul',
  infer(inputs: readonly [Value, Value, Value], _: None) {
    const [rows, weight, scales] = inputs;
    const [inner, out] = [rows.shape[1]!, weight.shape[1]!];
    const fits =
      rows.dtype === 'uint8' &&
      weight.dtype === 'int8' &&
      scales.dtype === 'float32' &&
      sameShape(weight.shape, [inner, out]) &&
      sameShape(scales.shape, [out]);
    if (!fits) {
      const rule = `rows must be uint8[M,in], weights int8[in,out] and scales float32[out]`;
      throw typeError('byteMatmul', rule, inputs);
    }
    return { dtype: 'float32', shape: [rows.shape[0]!, out] };
  },
});

/** Rows quantized to 8 bits: x ≈ (bytes − 128)·scale. */
export interface ByteRows {
  readonly bytes: Value;
  /** [M, 1] */
  readonly scale: Value;
}

/** Quantizes each row to 8 bits by its largest magnitude: scale = max|x|/127.
 *  @example [2, −127, 0.4]  →  scale 1, bytes [130, 1, 128] */
export function toBytes(x: Value): ByteRows {
  // A row of zeros has scale 0, so its products are 0 for any bytes.
  const scale = div(maxOf(abs(x), [-1]), 127);
  return { bytes: apply(toBytesOp, [x, scale], {}), scale };
}

/** x·W of rows and weights that are quantized to 8 bits. */
export function byteMatmul({ bytes, scale }: ByteRows, weight: Value, scales: Value): Value {
  return mul(apply(byteMatmulOp, [bytes, weight, scales], {}), scale);
}
