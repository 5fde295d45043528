import type { LoweringContext } from './lowering-context.ts';

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
