import { expectLengths } from '../columns/index.ts';
import { discountedSums } from './discounted-sums.ts';

/** What the value model learns: returns by way of the advantages.
 *  G_t = A_t + V_t
 *  @example A=[⅛, ¼, ½], V=[½, ½, ½]  →  G=[⅝, ¾, 1] */
export function returnsOf(advantages: Float32Array, values: Float32Array): Float32Array {
  expectLengths({ values }, { action: 'compute returns', length: advantages.length });
  return advantages.map((a, t) => a + values[t]!);
}

/** Rewards from each step to the end of its sequence, without a value model.
 *  G_t = Σ_i γ^i·r_{t+i}
 *  @example γ=½, r=[4, 0, 2]  →  G=[4½, 1, 2] */
export function rewardToGo(
  rewards: Float32Array,
  { offsets, gamma }: { readonly offsets: Int32Array; readonly gamma: number },
): Float32Array {
  return discountedSums(rewards, { offsets, discount: gamma });
}
