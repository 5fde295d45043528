import type { SampleRow, TokenColumns } from '../../api.ts';
import type { ArithmeticConfig } from './arithmetic-config.ts';

export interface ArithmeticInput {
  readonly columns: TokenColumns;
  readonly config: ArithmeticConfig;
  /** The sample's line, where it is known: the score is there. */
  readonly row: Pick<SampleRow, 'score' | 'finished'> | undefined;
}

/** A response's numbers, computed again in float64 from the stored rewards and values. All stand on
 *  steps: one for each token, and one more where rewards stand `after-final`. */
export interface Recomputed {
  /** r′_t: the rewards that the estimator saw. */
  readonly rewards: readonly number[];
  /** δ_t; none unless the estimator is GAE. */
  readonly errors: readonly number[] | undefined;
  /** A_t before whitening; none where they depend on other responses. */
  readonly advantages: readonly number[] | undefined;
  /** G_t */
  readonly returns: readonly number[];
}

/**
 * Advantages and returns of one response, from its rewards and values.
 * gae: δ_t = r_t + γV_{t+1} − V_t;  A_t = δ_t + γλA_{t+1};  G_t = A_t + V_t
 * others: G_t = r_t + γG_{t+1}, and A_t = G_t for reinforce++;  all are 0 after the end
 * @example γ=1, λ=½, r=[0, 0, 1], V=[½, ½, ½]  →  δ=[0, 0, ½], A=[⅛, ¼, ½], G=[⅝, ¾, 1]
 */
export function recompute(columns: TokenColumns, config: ArithmeticConfig): Recomputed {
  const { values, gamma: γ, lambda: λ } = columns;
  const rewards = config.whitenRewards ? readBackRewards(columns, config) : columns.rewards;
  if (config.advantageEstimator !== 'gae') {
    const returns = sumBack(rewards, γ);
    const advantages = config.advantageEstimator === 'reinforce++' ? returns : undefined;
    return { rewards, errors: undefined, advantages, returns };
  }
  const errors = rewards.map((r, t) => r + γ * (values[t + 1] ?? 0) - values[t]!);
  const advantages = sumBack(errors, γ * λ);
  return { rewards, errors, advantages, returns: advantages.map((a, t) => a + values[t]!) };
}

/** Rewards as they were scaled over the step, which only the returns still tell.
 *  gae: A_t = G_t − V_t, r′_t = A_t − γλA_{t+1} − γV_{t+1} + V_t;  others: r′_t = G_t − γG_{t+1}
 *  @example γ=1, λ=½, V=[½, ½, ½], G=[⅝, ¾, 1]  →  r′=[0, 0, 1] */
export function readBackRewards(columns: TokenColumns, config: ArithmeticConfig): number[] {
  const { values, returns, gamma: γ, lambda: λ } = columns;
  if (config.advantageEstimator !== 'gae') {
    return returns.map((g, t) => g - γ * (returns[t + 1] ?? 0));
  }
  const A = returns.map((g, t) => g - values[t]!);
  return A.map((a, t) => a - γ * λ * (A[t + 1] ?? 0) - γ * (values[t + 1] ?? 0) + values[t]!);
}

/** Takes off a step's mean and deviation: A′ = (A − μ)/√(σ² + 1e-8).
 *  @example A=3, μ=1, σ=2  →  1 */
export function whitened(
  A: number,
  { mean: μ, std: σ }: { readonly mean: number; readonly std: number },
): number {
  return (A - μ) / Math.sqrt(σ ** 2 + 1e-8);
}

/** KL_t from the logprobs of both policies, by the config's estimator.
 *  d = log π − log π_ref;  k1: d;  k2: ½d²;  k3: e^(−d) − 1 + d
 *  @example d = ln 2  →  0.6931, 0.2402, 0.1931 */
export function klOf(d: number, estimator: string): number {
  if (estimator === 'k2') return 0.5 * d ** 2;
  return estimator === 'k3' ? Math.exp(-d) - 1 + d : d;
}

/** The score as it stands in the rewards: cut(R − penalty of a missing stop, ±c). Undefined where it
 *  was normalised over other responses, or is not known.
 *  @example R=2, cut off, penalty ½, c=1  →  1 */
export function placedScore({ row, config }: ArithmeticInput): number | undefined {
  if (row === undefined || row.score === null || config.scoreNormalization !== 'none') {
    return undefined;
  }
  const limit = config.scoreClip ?? Infinity;
  const score = row.score - (row.finished ? 0 : config.missingEosPenalty);
  return Math.min(Math.max(score, -limit), limit);
}

/** Whether a step carries the score: every token, or the last step. */
export function carriesScore(step: number, { columns, config }: ArithmeticInput): boolean {
  const { rewards, ids } = columns;
  return config.rewardPlacement === 'every' ? step < ids.length : step === rewards.length - 1;
}

/** S_t = x_t + c·S_{t+1}, and 0 after the end. */
function sumBack(x: readonly number[], c: number): number[] {
  const sums: number[] = new Array(x.length).fill(0);
  for (let t = x.length - 1; t >= 0; t--) sums[t] = x[t]! + c * (sums[t + 1] ?? 0);
  return sums;
}
