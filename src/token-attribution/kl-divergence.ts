import type { PPOConfig } from '../config/ppo-config.ts';

/** How the KL divergence of a token is estimated from its two logprobs. */
export type KlEstimator = PPOConfig['klEstimator'];

/** One token's estimate of KL(π ‖ π_ref), from d = log π − log π_ref.
 *  k1 = d;  k2 = ½d²;  k3 = e^(−d) − 1 + d
 *  Under π, k1 and k3 have the divergence as their mean; k2 and k3 are never negative.
 *  @example d = ln 2 (π is twice as sure)  →  k1 = 0.6931, k2 = 0.2402, k3 = ½ − 1 + 0.6931 = 0.1931 */
export function klDivergence(estimator: KlEstimator, d: number): number {
  switch (estimator) {
    case 'k1':
      return d;
    case 'k2':
      return 0.5 * d * d;
    case 'k3':
      // expm1 keeps the digits that e^(−d) − 1 loses near d = 0; k3 is ½d² there.
      return Math.expm1(-d) + d;
  }
}

/** The derivative of the estimate by d, which is that by log π.
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
