import { expectLengths } from '../columns/index.ts';

/** Options of the recursions over ragged columns: sequence i has the steps from offsets[i] up to
 *  offsets[i + 1]. */
export interface GaeOptions {
  readonly offsets: Int32Array;
  /** γ: discount of later rewards. */
  readonly gamma: number;
  /** λ: 0 trusts the value model, 1 trusts the rewards. */
  readonly lam: number;
}

/** Temporal-difference errors: how much better a step went than the values predicted.
 *  δ_t = r_t + γV_{t+1} − V_t;  V after the last step = 0
 *  @example γ=½, r=[1, 2], V=[4, 2]  →  δ=[1 + 1 − 4, 2 − 2] = [−2, 0] */
export function tdErrors(
  rewards: Float32Array,
  values: Float32Array,
  { offsets, gamma }: Omit<GaeOptions, 'lam'>,
): Float32Array {
  expectLengths({ rewards, values }, { action: 'compute TD errors', length: offsets.at(-1) ?? 0 });
  const errors = new Float32Array(rewards.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let next = 0;
    for (let t = offsets[i + 1]! - 1; t >= offsets[i]!; t--) {
      errors[t] = rewards[t]! + gamma * next - values[t]!;
      next = values[t]!;
    }
  }
  return errors;
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

/** Targets of the value model: returns derived from advantages.
 *  G_t = A_t + V_t
 *  @example A=[⅛, ¼, ½], V=[½, ½, ½]  →  G=[⅝, ¾, 1] */
export function returnsOf(advantages: Float32Array, values: Float32Array): Float32Array {
  expectLengths({ values }, { action: 'compute returns', length: advantages.length });
  return advantages.map((a, t) => a + values[t]!);
}

/** Discounted rewards from each step to the end of its sequence; needs no value model.
 *  G_t = Σ_i γ^i·r_{t+i}
 *  @example γ=½, r=[4, 0, 2]  →  G=[4½, 1, 2] */
export function rewardToGo(
  rewards: Float32Array,
  { offsets, gamma }: Omit<GaeOptions, 'lam'>,
): Float32Array {
  return discountedSums(rewards, { offsets, discount: gamma });
}

/** Discounted sums from each element to the end of its sequence.
 *  S_t = x_t + c·S_{t+1} = Σ_i c^i·x_{t+i};  S after the end = 0
 *  @example c=½, x=[4, 0, 2]  →  S=[4½, 1, 2] */
function discountedSums(
  x: Float32Array,
  { offsets, discount: c }: { readonly offsets: Int32Array; readonly discount: number },
): Float32Array {
  expectLengths({ x }, { action: 'compute discounted sums', length: offsets.at(-1) ?? 0 });
  const sums = new Float32Array(x.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let sum = 0;
    for (let t = offsets[i + 1]! - 1; t >= offsets[i]!; t--) {
      sum = x[t]! + c * sum;
      sums[t] = sum;
    }
  }
  return sums;
}
