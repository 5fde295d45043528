import { type Shape, sameShape } from '../dim.ts';
import {
  apply,
  broadcastShapes,
  defineOp,
  expectDType,
  type Node,
  typeError,
  type Value,
} from '../value.ts';

type Operands = readonly [Value, Value];

type MatmulAttributes = {
  readonly transA: boolean;
  readonly transB: boolean;
  readonly alpha: number;
};

/** alpha · A · B over the last two axes, either one transposed; leading axes broadcast. */
export const matmulOp = defineOp({
  name: 'matmul',
  infer(inputs: Operands, { transA, transB }: MatmulAttributes) {
    expectDType('matmul', 'float32', inputs);
    const [a, b] = inputs;
    if (a.shape.length < 2 || b.shape.length < 2) {
      throw typeError('matmul', 'inputs must have at least two axes', inputs);
    }
    const [m, ka] = lastTwo(a.shape, transA);
    const [kb, n] = lastTwo(b.shape, transB);
    if (ka !== kb) throw typeError('matmul', `inner sizes must agree (${ka} ≠ ${kb})`, inputs);
    const batches = inputs.map(({ shape }) => shape.slice(0, -2));
    return { dtype: 'float32', shape: [...broadcastShapes('matmul', inputs, batches), m, n] };
  },
  vjp({ inputs: [a, b], attributes }: Node<Operands, MatmulAttributes>, dy: Value) {
    const { transA, transB, alpha } = attributes;
    const da = transA
      ? matmul(b, dy, { transA: transB, transB: true, alpha })
      : matmul(dy, b, { transB: !transB, alpha });
    const db = transB
      ? matmul(dy, a, { transA: true, transB: transA, alpha })
      : matmul(a, dy, { transA: !transA, alpha });
    return [da, db];
  },
});

/** alpha · A · B over the last two axes, either one transposed; leading axes broadcast. */
export function matmul(
  a: Value,
  b: Value,
  { transA = false, transB = false, alpha = 1 }: Partial<MatmulAttributes> = {},
): Value {
  return apply(matmulOp, [a, b], { transA, transB, alpha });
}

/** W + s·B·A, without a gradient: `adaptedLinear` computes those of A and B. Not a product and a sum, which
 *  would be saved for the backward pass like activations. */
export const mergedWeightOp = defineOp({
  name: 'mergedWeight',
  infer: ([w]: readonly [Value, Value, Value], _: AdaptedAttributes) => w,
});

type Adapted = readonly [Value, Value, Value, Value];

type AdaptedAttributes = {
  readonly scaling: number;
};

/**
 * x·Mᵀ for x [M, in] and a merged weight M = W + s·B·A [out, in] with A [r, in] and B [out, r]. The
 * gradients of A and B do not need the large one of M: dB = s·dyᵀ·(x·Aᵀ);  dA = s·(dy·B)ᵀ·x.
 * There is no gradient of W.
 */
export const adaptedLinearOp = defineOp({
  name: 'adaptedLinear',
  infer(inputs: Adapted, _: AdaptedAttributes) {
    expectDType('adaptedLinear', 'float32', inputs);
    const [{ shape: x }, { shape: merged }, { shape: a }] = inputs;
    const expected = [
      [x[0], x[1]],
      [merged[0], x[1]],
      [a[0], x[1]],
      [merged[0], a[0]],
    ];
    if (!inputs.every(({ shape }, i) => sameShape(shape, expected[i] as Shape))) {
      const rule = 'inputs must be [M,in], [out,in], [r,in] and [out,r]';
      throw typeError('adaptedLinear', rule, inputs);
    }
    return { dtype: 'float32', shape: [x[0]!, merged[0]!] };
  },
  vjp({ inputs: [x, merged, a, b], attributes }: Node<Adapted, AdaptedAttributes>, dy: Value) {
    const alpha = attributes.scaling;
    return [
      matmul(dy, merged),
      null,
      matmul(matmul(dy, b), x, { transA: true, alpha }),
      matmul(dy, matmul(x, a, { transB: true }), { transA: true, alpha }),
    ];
  },
});

/** A linear module with its LoRA adapter merged into the frozen weight: x·(W + scaling·B·A)ᵀ. Merging
 *  costs out·in·r once, and saves two products and a sum per row. */
export function adaptedLinear(
  x: Value,
  weight: Value,
  { a, b, scaling }: { readonly a: Value; readonly b: Value; readonly scaling: number },
): Value {
  const merged = apply(mergedWeightOp, [weight, a, b], { scaling });
  return apply(adaptedLinearOp, [x, merged, a, b], { scaling });
}

function lastTwo(shape: Shape, transposed: boolean): readonly [Shape[number], Shape[number]] {
  const rows = shape.at(-2) as Shape[number];
  const columns = shape.at(-1) as Shape[number];
  return transposed ? [columns, rows] : [rows, columns];
}
