import { discountedSums } from './discounted-sums.ts';

export interface GaeOptions {
  /** Sequence i has the steps from offsets[i] to offsets[i + 1]. */
  readonly offsets: Int32Array;
  readonly gamma: number;
  readonly lam: number;
}

/** Generalised advantage estimation (arXiv:1506.02438) from TD errors.
 *  A_t = δ_t + γλA_{t+1};  A after the last step = 0
 *  @example γ=1, λ=½, δ=[0, 0, ½]  →  A=[⅛, ¼, ½] */
export function gaeAdvantages(
  tdErrors: Float32Array,
  { offsets, gamma, lam }: GaeOptions,
): Float32Array {
  return discountedSums(tdErrors, { offsets, discount: gamma * lam });
}
