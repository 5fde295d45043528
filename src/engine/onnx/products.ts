import { type Dim, sizeOf } from '../graph/dim.ts';
import type { LoweringContext } from './lowering-context.ts';
import { onnxDataType } from './model-proto.ts';

export const MICROSOFT = 'com.microsoft';

export interface ProductOptions {
  readonly transA?: boolean;
  readonly transB?: boolean;
  readonly alpha?: number;
  /** Number of axes of each operand; 2 by default. */
  readonly ranks?: readonly [a: number, b: number];
}

/** α·op(a)·op(b), where op transposes the last two axes if asked to. The WebGPU provider has no kernel
 *  for the fused form, so it gets up to four nodes. */
export function lowerMatMul(
  context: LoweringContext,
  [a, b]: readonly [a: string, b: string],
  { transA = false, transB = false, alpha = 1, ranks = [2, 2] }: ProductOptions,
): string {
  if (context.target === 'cpu') {
    const attributes = { transA: BigInt(transA), transB: BigInt(transB), alpha };
    return context.node('FusedMatMul', [a, b], { domain: MICROSOFT, attributes });
  }
  const left = transA ? swapLastAxes(context, a, ranks[0]) : a;
  const right = transB ? swapLastAxes(context, b, ranks[1]) : b;
  const product = context.node('MatMul', [left, right]);
  return alpha === 1 ? product : context.node('Mul', [product, context.scalar(alpha)]);
}

function swapLastAxes(context: LoweringContext, name: string, rank: number): string {
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const perm = [...axes.slice(0, -2), rank - 1, rank - 2];
  return context.reuse(`transposed ${name}`, () =>
    context.node('Transpose', [name], { attributes: { perm } }),
  );
}

interface RowSumsRequest {
  readonly updates: string;
  readonly index: string;
  /** Shape of the updates with one axis of rows. */
  readonly flat: readonly Dim[];
  readonly shape: readonly Dim[];
}

/** Adds rows at the positions in `index`, as a product with the matrix that is 1 where a row belongs.
 *  WebGPU's ScatterElements adds in any order, so its last bits would differ from run to run. */
export function lowerRowSums(
  context: LoweringContext,
  { updates, index, flat: [count = 1, ...row], shape: [rows = 1] }: RowSumsRequest,
): string {
  const cast = (name: string, to: 'int32' | 'float32') =>
    context.node('Cast', [name], { attributes: { to: BigInt(onnxDataType[to]) } });
  const scalar = (name: string) => context.node('Squeeze', [cast(name, 'int32')]);
  const limits = [[0], [rows], [1]].map((size) => scalar(context.sizes(size)));
  const positions = context.node('Reshape', [
    context.node('Range', limits),
    context.sizes([rows, 1]),
  ]);
  const targets = context.node('Reshape', [index, context.sizes([1, count])]);
  const belongs = cast(context.node('Equal', [positions, targets]), 'float32');
  const width = sizeOf(row);
  const parts = context.node('Reshape', [updates, context.sizes([count, width])]);
  const sums = context.node('MatMul', [belongs, parts]);
  return context.node('Reshape', [sums, context.sizes([rows, ...row])]);
}
