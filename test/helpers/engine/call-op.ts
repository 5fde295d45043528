import type { Dim, Shape } from '../../../src/engine/graph/dim.ts';
import * as elementwise from '../../../src/engine/graph/ops/elementwise.ts';
import * as fused from '../../../src/engine/graph/ops/fused.ts';
import * as gather from '../../../src/engine/graph/ops/gather.ts';
import type { OpName } from '../../../src/engine/graph/ops/index.ts';
import * as layout from '../../../src/engine/graph/ops/layout.ts';
import { adaptedLinear, matmul } from '../../../src/engine/graph/ops/matmul.ts';
import { byteProduct } from '../../../src/engine/graph/ops/quantized.ts';
import * as reduce from '../../../src/engine/graph/ops/reduce.ts';
import { constant } from '../../../src/engine/graph/ops/source.ts';
import type { DType, Value } from '../../../src/engine/graph/value.ts';

/** Calls a graph function with named inputs and with the attributes of a sample or a golden. */
export type Call = (inputs: never, attributes: never) => Value | Readonly<Record<string, Value>>;
export type Named<K extends string> = Readonly<Record<K, Value>>;

type Axes = { readonly axes?: readonly number[] };
type Target = { readonly shape: Shape };

export const unary =
  (op: (x: Value) => Value) =>
  ({ x }: Named<'x'>) =>
    op(x);
const binary =
  (op: (a: Value, b: Value) => Value) =>
  ({ a, b }: Named<'a' | 'b'>) =>
    op(a, b);

/** Ops without inputs, or with constants only, cannot be called here; some are called by other ops. */
type CallableOp = Exclude<OpName, 'input' | 'constant' | 'mergedWeight' | 'rmsNormGrad'>;

/** Every op, through its public function. */
export const callOp: { readonly [K in CallableOp]: Call } = {
  add: binary(elementwise.add),
  sub: binary(elementwise.sub),
  mul: binary(elementwise.mul),
  div: binary(elementwise.div),
  pow: binary(elementwise.pow),
  min: binary(elementwise.min),
  max: binary(elementwise.max),
  equal: binary(elementwise.equal),
  less: binary(elementwise.less),
  lessEqual: binary(elementwise.lessEqual),
  greater: binary(elementwise.greater),
  greaterEqual: binary(elementwise.greaterEqual),
  neg: unary(elementwise.neg),
  exp: unary(elementwise.exp),
  log: unary(elementwise.log),
  sqrt: unary(elementwise.sqrt),
  rsqrt: unary(elementwise.rsqrt),
  tanh: unary(elementwise.tanh),
  sigmoid: unary(elementwise.sigmoid),
  erf: unary(elementwise.erf),
  abs: unary(elementwise.abs),
  sign: unary(elementwise.sign),
  detach: unary(elementwise.detach),
  keep: unary(elementwise.keep),
  clip: ({ x }: Named<'x'>, { min, max }: { min: number; max: number }) =>
    elementwise.clip(x, min, max),
  where: ({ condition, a, b }: Named<'condition' | 'a' | 'b'>) =>
    elementwise.where(condition, a, b),
  cast: ({ x }: Named<'x'>, { to }: { to: DType }) => elementwise.cast(x, to),

  matmul: ({ a, b }: Named<'a' | 'b'>, attributes: Parameters<typeof matmul>[2]) =>
    matmul(a, b, attributes),
  byteProduct: (
    { x, scales }: Named<'x' | 'scales'>,
    { bytes, shape, transposed }: { bytes: number[]; shape: Shape; transposed: boolean },
  ) => {
    const weight = constant(Int8Array.from(bytes), { dtype: 'int8', shape });
    return byteProduct(x, { weight, scales, transposed }, { rows: 'float32', maxByte: 127 });
  },
  adaptedLinear: (
    { x, weight, a, b }: Named<'x' | 'weight' | 'a' | 'b'>,
    { scaling }: { scaling: number },
  ) => adaptedLinear(x, weight, { a, b, scaling }),

  sum: ({ x }: Named<'x'>, { axes }: Axes) => reduce.sum(x, axes),
  maxOf: ({ x }: Named<'x'>, { axes }: Axes) => reduce.maxOf(x, axes),
  count: ({ x }: Named<'x'>, { axes }: Axes) => reduce.count(x, axes),

  reshape: ({ x }: Named<'x'>, { shape }: Target) => layout.reshape(x, shape),
  broadcastTo: ({ x }: Named<'x'>, { shape }: Target) => layout.broadcastTo(x, shape),
  transpose: ({ x }: Named<'x'>, { permutation }: { permutation: number[] }) =>
    layout.transpose(x, permutation),
  slice: ({ x }: Named<'x'>, attributes: Parameters<typeof layout.slice>[1]) =>
    layout.slice(x, attributes),
  pad: ({ x }: Named<'x'>, attributes: Parameters<typeof layout.pad>[1]) =>
    layout.pad(x, attributes),
  concat: (inputs: Readonly<Record<string, Value>>, { axis }: { axis?: number }) =>
    layout.concat(Object.values(inputs), axis),

  gatherRows: ({ x, index }: Named<'x' | 'index'>) => gather.gatherRows(x, index),
  scatterAddRows: ({ updates, index }: Named<'updates' | 'index'>, { rows }: { rows: Dim }) =>
    gather.scatterAddRows(updates, index, rows),
  permuteRows: ({ x, index, inverse }: Named<'x' | 'index' | 'inverse'>) =>
    gather.permuteRows(x, index, inverse),
  gatherLast: ({ x, index }: Named<'x' | 'index'>) => gather.gatherLast(x, index),
  scatterLast: ({ updates, index }: Named<'updates' | 'index'>, { size }: { size: Dim }) =>
    gather.scatterLast(updates, index, size),
  argmax: unary(gather.argmax),
  topKIndices: ({ x }: Named<'x'>, { k }: { k: number }) => gather.topKIndices(x, k),

  softmax: unary(fused.softmax),
  logSoftmax: unary(fused.logSoftmax),
  silu: unary(fused.silu),
  rmsNorm: ({ x, weight }: Named<'x' | 'weight'>, { epsilon }: { epsilon: number }) =>
    fused.rmsNorm(x, weight, epsilon),
  rope: ({ x, cos, sin }: Named<'x' | 'cos' | 'sin'>) => fused.rope(x, cos, sin),
};

/** The outputs of a call; a single one is named `y`. */
export function callByName(
  call: Call,
  inputs: Readonly<Record<string, Value>>,
  attributes: Readonly<Record<string, unknown>>,
): Readonly<Record<string, Value>> {
  const result = call(inputs as never, attributes as never);
  return isValue(result) ? { y: result } : result;
}

function isValue(result: Value | Readonly<Record<string, Value>>): result is Value {
  return Array.isArray(result.inputs);
}
