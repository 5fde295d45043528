import { sameShape } from '../dim.ts';
import { apply, defineOp, type Node, typeError, type Value } from '../value.ts';
import { mul } from './elementwise.ts';

/**
 * How x is multiplied by a byte weight. `one-byte` and `two-byte` quantize each row of x by its own
 * largest magnitude, to one byte or to a high and a low byte; `float32` converts the weight instead.
 */
export type RowFormat = 'one-byte' | 'two-byte' | 'float32';

/** How the products with byte weights are computed. */
export type ByteFormat = {
  readonly rows: RowFormat;
  /** Largest magnitude of a quantized row: 127, or 63 on processors where larger products overflow. */
  readonly maxByte: 127 | 63;
};

type ByteProductAttributes = ByteFormat & {
  /** Whether the weight is [out, in] instead of [in, out]. */
  readonly transposed: boolean;
};

type Operands = readonly [x: Value, weight: Value] | readonly [x: Value, weight: Value, s: Value];

/** y[m, n] = s[n] · Σ_k x[m, k]·w[k, n] with bytes w;  dx = (dy·s)·wᵀ. */
export const byteProductOp = defineOp({
  name: 'byteProduct',
  infer(inputs: Operands, { transposed }: ByteProductAttributes) {
    const [x, weight, scales] = inputs;
    const [first, second] = weight.shape;
    const [inner, out] = transposed ? [second, first] : [first, second];
    const fits =
      x.dtype === 'float32' &&
      weight.dtype === 'int8' &&
      weight.shape.length === 2 &&
      sameShape(x.shape, [x.shape[0]!, inner!]) &&
      (scales === undefined || (scales.dtype === 'float32' && sameShape(scales.shape, [out!])));
    if (!fits) {
      const layout = transposed ? 'out,in' : 'in,out';
      const rule = `x must be float32[M,in], weights int8[${layout}] and scales float32[out]`;
      throw typeError('byteProduct', rule, inputs);
    }
    return { dtype: 'float32', shape: [x.shape[0]!, out!] };
  },
  vjp(
    { inputs: [, weight, scales], attributes }: Node<Operands, ByteProductAttributes>,
    dy: Value,
  ) {
    const scaled = scales === undefined ? dy : mul(dy, scales);
    const dx = byteProduct(scaled, { weight, transposed: !attributes.transposed }, attributes);
    return scales === undefined ? [dx, null] : [dx, null, null];
  },
});

/** A weight of whole numbers from −127 to 127, [in, out], and the scale of each output. */
export interface ByteOperand {
  /** int8 */
  readonly weight: Value;
  /** [out]; 1 if missing. */
  readonly scales?: Value;
  /** Whether the weight is [out, in]. */
  readonly transposed?: boolean;
}

/** x·W for a weight in bytes: (x·weight)·scales.
 *  @example x = [1, 2], weight = [[3], [4]], scales = [½]  →  [5.5] */
export function byteProduct(
  x: Value,
  { weight, scales, transposed = false }: ByteOperand,
  { rows, maxByte }: ByteFormat,
): Value {
  const operands: Operands = scales === undefined ? [x, weight] : [x, weight, scales];
  return apply(byteProductOp, operands, { rows, maxByte, transposed });
}
