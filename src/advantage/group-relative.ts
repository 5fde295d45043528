import { moments, type Variance } from '../reward-kl/whiten.ts';
import { type GaeOptions, rewardToGo } from './gae.ts';

/** Advantages of the responses to one prompt, from their undiscounted returns R. */
export type GroupAdvantage = (returns: readonly number[], whitening: Variance) => number[];

/** Leave-one-out baseline (RLOO, arXiv:2402.14740): the mean return of the other responses.
 *  A_i = R_i − (ΣR − R_i)/(n − 1)
 *  @example R=[1, 2, 6]  →  A=[1 − 4, 2 − 3½, 6 − 1½] = [−3, −1½, 4½] */
export function rlooAdvantages(returns: readonly number[]): number[] {
  const shifted = shiftToFirst(returns);
  const total = shifted.reduce((sum, r) => sum + r, 0);
  return shifted.map((r) => r - (total - r) / (returns.length - 1));
}

/** Returns standardised within their group (GRPO, arXiv:2402.03300); the config's `whitening` decides
 *  whether σ² divides by n or n − 1. Equal returns get 0.
 *  A_i = (R_i − μ)/(σ + 1e-4)
 *  @example R=[1, 3], biased (μ=2, σ=1)  →  A=[−0.9999, 0.9999] */
export function grpoAdvantages(returns: readonly number[], whitening: Variance): number[] {
  const shifted = shiftToFirst(returns);
  const { mean, variance } = moments(shifted, whitening);
  const std = Math.sqrt(variance);
  return shifted.map((r) => (r - mean) / (std + 1e-4));
}

/** Returns relative to the first one: equal returns become exactly 0, without a rounding error that a
 *  small σ would scale up. Advantages do not depend on a shared offset. */
function shiftToFirst(returns: readonly number[]): number[] {
  return returns.map((r) => r - returns[0]!);
}

/** REINFORCE++ (arXiv:2501.03262): the reward-to-go, whose whitening over the rollout is the baseline.
 *  A_t = G_t = Σ_i γ^i·r_{t+i}
 *  @example γ=½, r=[0, 0, 1]  →  A=[¼, ½, 1] */
export function reinforceAdvantages(
  rewards: Float32Array,
  options: Omit<GaeOptions, 'lam'>,
): Float32Array {
  return rewardToGo(rewards, options);
}

/** Rewards of responses; those with the same `promptIdx` form a group. */
export interface GroupedRewards {
  readonly sequences: readonly { readonly promptIdx: number }[];
  readonly stepOffsets: Int32Array;
  readonly rewards: Float32Array;
}

/** Compares each response with the others to its prompt: R_i = Σ_t r_t, and A_i on every step. */
export function groupAdvantages(
  { sequences, stepOffsets, rewards }: GroupedRewards,
  { advantage, whitening }: { readonly advantage: GroupAdvantage; readonly whitening: Variance },
): Float32Array {
  const advantages = new Float32Array(rewards.length);
  for (const [promptIdx, group] of groupByPrompt(sequences)) {
    if (group.length < 2) {
      throw new RangeError(
        `Cannot compare responses: prompt ${promptIdx} must have at least 2, got ${group.length}; set samplesPerPrompt to 2 or more`,
      );
    }
    const bounds = group.map((i) => [stepOffsets[i]!, stepOffsets[i + 1]!] as const);
    const returns = bounds.map(([start, end]) =>
      rewards.subarray(start, end).reduce((sum, r) => sum + r, 0),
    );
    advantage(returns, whitening).forEach((a, k) => {
      advantages.fill(a, ...bounds[k]!);
    });
  }
  return advantages;
}

/** Indices of each prompt's sequences, which need not be adjacent. */
function groupByPrompt(sequences: GroupedRewards['sequences']): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  sequences.forEach(({ promptIdx }, i) => {
    const group = groups.get(promptIdx);
    if (group === undefined) groups.set(promptIdx, [i]);
    else group.push(i);
  });
  return groups;
}
