/** Where the ratio is cut. */
export interface ClipRange {
  /** ε below 1. */
  readonly low: number;
  /** ε above 1. */
  readonly high: number;
  /** c: bound of the ratio where the advantage is negative. */
  readonly dual: number | undefined;
}

export interface ClippedLoss {
  readonly loss: number;
  /** ∂loss/∂ρ: 0 where the loss is cut. */
  readonly slope: number;
  /** Whether the clipped term is strictly the larger loss. */
  readonly clipped: boolean;
}

/** Largest |log ρ|: beyond it the ratio stays, and has no gradient. */
const MAX_LOG_RATIO = 20;

/** The ratio of new to old policy from their logprobs' difference d, with its derivative.
 *  ρ = exp(clamp(d, ±20));  ∂ρ/∂d = ρ inside, 0 outside
 *  @example d = ln 3  →  ρ = 3, slope 3
 *  @example d = 21  →  ρ = e^20, slope 0 */
export function policyRatio(d: number): { readonly ratio: number; readonly slope: number } {
  const ratio = Math.exp(Math.min(Math.max(d, -MAX_LOG_RATIO), MAX_LOG_RATIO));
  return { ratio, slope: Math.abs(d) > MAX_LOG_RATIO ? 0 : ratio };
}

/** PPO's clipped loss of one action (arXiv:1707.06347), with dual clip (arXiv:1912.09729) if asked for.
 *  ℓ = −min(ρA, clip(ρ, 1 − ε_low, 1 + ε_high)·A);  dual, where A < 0: ℓ ← min(ℓ, −cA)
 *  @example ε=0.2, ρ=1.5, A=1  →  ℓ=−1.2, slope 0, clipped
 *  @example ε=0.2, ρ=5, A=−1  →  ℓ=5, slope 1; with c=3  →  ℓ=3, slope 0 */
export function clippedLoss(
  ratio: number,
  advantage: number,
  { low, high, dual }: ClipRange,
): ClippedLoss {
  const plain = -ratio * advantage;
  const cut = -Math.min(Math.max(ratio, 1 - low), 1 + high) * advantage;
  if (cut > plain) return { loss: cut, slope: 0, clipped: true };
  const bound = dual !== undefined && advantage < 0 ? -dual * advantage : Infinity;
  if (plain > bound) return { loss: bound, slope: 0, clipped: false };
  return { loss: plain, slope: -advantage, clipped: false };
}
