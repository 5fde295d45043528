import type { PPOConfig } from '../config/ppo-config.ts';

/** Estimator of a token's KL divergence from its two logprobs. */
export type KlEstimator = PPOConfig['klEstimator'];

/** Estimates KL(π ‖ π_ref) from one token, with d = log π − log π_ref.
 *  k1 = d;  k2 = ½d²;  k3 = e^(−d) − 1 + d
 *  Under π, the mean of k1 and k3 is the divergence; k2 and k3 are never negative.
 *  @example d = ln 2 (twice the probability)  →  k1 = 0.6931, k2 = 0.2402, k3 = ½ − 1 + 0.6931 = 0.1931 */
export function klDivergence(estimator: KlEstimator, d: number): number {
  switch (estimator) {
    case 'k1':
      return d;
    case 'k2':
      return 0.5 * d * d;
    case 'k3':
      // expm1 is accurate near d = 0, where k3 ≈ ½d².
      return Math.expm1(-d) + d;
  }
}

/** The derivative of the estimate with respect to d, which is that with respect to log π.
 *  k1′ = 1;  k2′ = d;  k3′ = 1 − e^(−d)
 *  @example d = ln 2  →  k1′ = 1, k2′ = 0.6931, k3′ = ½ */
export function klDerivative(estimator: KlEstimator, d: number): number {
  switch (estimator) {
    case 'k1':
      return 1;
    case 'k2':
      return d;
    case 'k3':
      return -Math.expm1(-d);
  }
}
