import { rewardToGo } from '../advantage/gae.ts';
import { concatFloats } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { Performance } from '../loop/evaluation-report.ts';
import { placeRewards } from '../reward-kl/place-rewards.ts';
import type { TokenAndTextScores } from '../reward-kl/reward-computation.ts';
import { klDivergence } from '../token-attribution/kl-divergence.ts';
import { sumEach, type TokenColumns } from './evaluator-columns.ts';
import {
  bestOfN,
  explainedVariance,
  mean,
  repetition,
  standardDeviation,
  winRate,
} from './text-measures.ts';

export type PerformanceConfig = Pick<TrainingConfig, 'evalBestOf'> &
  Pick<
    PPOConfig,
    'klCoef' | 'klEstimator' | 'klPlacement' | 'rewardPlacement' | 'maxNewTokens' | 'gamma'
  >;

/** Responses of one evaluation in numbers. */
export interface EvaluatedResponses {
  /** Of the greedy responses of policy and reference, [P]. */
  readonly greedyScores: Float32Array;
  readonly refScores: Float32Array;
  /** evalBestOf sampled responses to each prompt, side by side, [P · n]. */
  readonly tokens: readonly Int32Array[];
  readonly scores: Float32Array;
  /** The same as training places them: penalised, normalised, cut. */
  readonly shaped: TokenAndTextScores;
  readonly columns: TokenColumns;
}

/** What responses say of the policy that made them. */
export function performanceOf(
  responses: EvaluatedResponses,
  config: PerformanceConfig,
): Performance {
  const { greedyScores, refScores, tokens, scores, columns } = responses;
  return {
    greedyReward: mean(greedyScores),
    reward: mean(scores),
    rewardStd: standardDeviation(scores),
    responses: scores.length,
    bestOfN: bestOfN(scores, config.evalBestOf),
    winRate: winRate(greedyScores, refScores),
    kl: mean(sumEach(columns.logratios, columns.offsets)),
    entropy: mean(columns.entropies),
    length: mean(tokens.map(({ length }) => length)),
    repetition: repetition(tokens),
    explainedVariance: explainValues(responses, config),
  };
}

/** Values against the returns G_t = Σ_i γ^i·r_{t+i} of the rewards that training gives. They are
 *  not whitened: where whitenRewards is on, values have another scale, and this says little. */
function explainValues({ shaped, columns }: EvaluatedResponses, config: PerformanceConfig): number {
  const { offsets, logratios, values } = columns;
  if (values === undefined) return Number.NaN;
  const kl = logratios.map((d) => klDivergence(config.klEstimator, d));
  const { rewards, stepOffsets } = placeRewards({ ...shaped, kl, offsets }, config);
  const returns = rewardToGo(rewards, { offsets: stepOffsets, gamma: config.gamma });
  const ofTokens = Array.from(offsets.subarray(1), (end, i) => {
    const first = stepOffsets[i]!;
    return returns.subarray(first, first + end - offsets[i]!);
  });
  return explainedVariance(concatFloats(ofTokens), values);
}
