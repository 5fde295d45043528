import type { Dim } from '../dim.ts';
import { sameShape } from '../dim.ts';
import { apply, defineOp, expectDType, typeError, type Value } from '../value.ts';

type None = Readonly<Record<string, never>>;

/** How many weights of a row share one scale; smaller blocks are slower (docs/decisions/0005). */
export const QUANTIZED_BLOCK = 128;

/**
 * x·Wᵀ with 8-bit weights: W[n, i] = (q[n, i] − 128) · scale[n, ⌊i/128⌋], as constants of the graph.
 * The weight is [out, blocks, 128] bytes, the scales [out, blocks].
 */
export const quantizedMatmulOp = defineOp({
  name: 'quantizedMatmul',
  infer(inputs: readonly [Value, Value, Value], _: None) {
    const [x, weight, scales] = inputs;
    expectDType('quantizedMatmul', 'float32', [x, scales]);
    const blocks = Math.ceil(Number(x.shape.at(-1)) / QUANTIZED_BLOCK);
    const out = weight.shape[0] as Dim;
    const fits =
      weight.dtype === 'uint8' &&
      sameShape(weight.shape, [out, blocks, QUANTIZED_BLOCK]) &&
      sameShape(scales.shape, [out, blocks]);
    if (!fits) {
      throw typeError(
        'quantizedMatmul',
        `weights must be uint8[out,${blocks},${QUANTIZED_BLOCK}] and scales float32[out,${blocks}]`,
        inputs,
      );
    }
    return { dtype: 'float32', shape: [...x.shape.slice(0, -1), out] };
  },
});

export function quantizedMatmul(x: Value, weight: Value, scales: Value): Value {
  return apply(quantizedMatmulOp, [x, weight, scales], {});
}
