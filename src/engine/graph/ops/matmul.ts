import type { Shape } from '../dim.ts';
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

function lastTwo(shape: Shape, transposed: boolean): readonly [Shape[number], Shape[number]] {
  const rows = shape.at(-2) as Shape[number];
  const columns = shape.at(-1) as Shape[number];
  return transposed ? [columns, rows] : [rows, columns];
}
