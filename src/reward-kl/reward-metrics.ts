import { moments } from './whiten.ts';

export interface MetricParts {
  /** After the penalty of a missing stop, before normalisation, [B]. */
  readonly scores: Float32Array;
  /** As they are placed: normalised and cut, [B]. */
  readonly normalized: Float32Array;
  readonly bySource: ReadonlyMap<string, Float32Array>;
  readonly kl: Float32Array;
  readonly klCoef: number;
}

/** Metrics of a step's rewards: sums over a response's tokens, then means over responses, as TRL has them.
 *  objective/kl = mean Σ_t KL_t;  objective/scores = mean R, with the penalty of a missing stop
 *  objective/non_score_reward = −β·objective/kl, wherever the penalty stands
 *  objective/rlhf_reward = objective/non_score_reward + mean of the normalised and cut R
 *  rewards/{source}/mean and /std (which divides by B) are of what the source gave
 *  @example R=[1, 3], KL=[1, 2 | 3], β=0.1  →  kl 3, scores 2, non_score_reward −0.3, rlhf_reward 1.7 */
export function rewardMetrics(parts: MetricParts): Record<string, number> {
  const { scores, normalized, bySource, kl, klCoef } = parts;
  const meanKl = kl.reduce((sum, x) => sum + x, 0) / scores.length;
  const nonScore = 0 - klCoef * meanKl;
  const metrics: Record<string, number> = {
    'objective/kl': meanKl,
    'objective/kl_coef': klCoef,
    'objective/scores': moments(scores, 'biased').mean,
    'objective/non_score_reward': nonScore,
    'objective/rlhf_reward': nonScore + moments(normalized, 'biased').mean,
  };
  for (const [name, own] of bySource) {
    const { mean, variance } = moments(own, 'biased');
    metrics[`rewards/${name}/mean`] = mean;
    metrics[`rewards/${name}/std`] = Math.sqrt(variance);
  }
  return metrics;
}
