import type { Dim } from '../dim.ts';
import { dimMul } from '../dim.ts';
import { add } from '../ops/elementwise.ts';
import { softmax } from '../ops/fused.ts';
import { reshape } from '../ops/layout.ts';
import { matmul } from '../ops/matmul.ts';
import { typeError, type Value } from '../value.ts';

export interface AttentionInputs {
  /** [B, heads, T, D] */
  readonly q: Value;
  /** [B, kvHeads, S, D]; each serves heads / kvHeads query heads. */
  readonly k: Value;
  readonly v: Value;
  /** Added to the scores: 0 where a query may look, a large negative number where not. */
  readonly bias: Value;
}

/**
 * Grouped-query attention (arXiv:2305.13245): softmax(q·kᵀ/√D + bias)·v, as [B, heads, T, D].
 * The query heads of a group stand below one another, so that each group is one product.
 */
export function attention({ q, k, v, bias }: AttentionInputs): Value {
  const [batch, heads, queries, size] = q.shape as [Dim, number, Dim, number];
  const [, kvHeads, keys] = k.shape as [Dim, number, Dim];
  const group = heads / kvHeads;
  if (!Number.isInteger(group)) {
    throw typeError('attention', 'heads of q must be a multiple of those of k and v', [q, k, v]);
  }
  const grouped = reshape(q, [batch, kvHeads, dimMul(group, queries), size]);
  const scores = matmul(grouped, k, { transB: true, alpha: 1 / Math.sqrt(size) });
  const weights = softmax(add(reshape(scores, [batch, heads, queries, keys]), bias));
  const stacked = reshape(weights, [batch, kvHeads, dimMul(group, queries), keys]);
  return reshape(matmul(stacked, v), q.shape);
}
