import { rewardToGo } from '../advantage/index.ts';
import {
  concatFloats,
  explainedVariance,
  mean,
  meanInterval,
  proportionInterval,
  splitByOffsets,
  standardDeviation,
} from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { Performance } from '../loop/index.ts';
import type { TokenAndTextScores } from '../reward-kl/index.ts';
import { placeRewards } from '../reward-kl/place-rewards.ts';
import { klDivergence } from '../token-attribution/index.ts';

export type PerformanceConfig = Pick<TrainingConfig, 'evalBestOf'> &
  Pick<
    PPOConfig,
    'klCoef' | 'klEstimator' | 'klPlacement' | 'rewardPlacement' | 'maxNewTokens' | 'gamma'
  >;

/** Per-token numbers of evaluated responses: N tokens end to end. */
export interface TokenColumns {
  /** [B + 1] */
  readonly offsets: Int32Array;
  /** d_t = log π − log π_ref at the temperature, [N]. */
  readonly logratios: Float32Array;
  /** Entropy of π before each token, [N]. */
  readonly entropies: Float32Array;
  /** V of the state before each token, [N]; missing without a value model. */
  readonly values: Float32Array | undefined;
}

/** The responses of one evaluation in numbers. Scores have the missing-stop penalty. */
export interface EvaluatedResponses {
  /** Scores of the greedy responses of policy and reference, [P]. */
  readonly greedyScores: Float32Array;
  readonly refScores: Float32Array;
  /** `evalBestOf` sampled responses per prompt, next to each other, [P · n]. */
  readonly tokens: readonly Int32Array[];
  readonly scores: Float32Array;
  /** Scores per source, without weights and penalty, [P · n]. */
  readonly bySource: ReadonlyMap<string, Float32Array>;
  /** Number of sampled responses that finished. */
  readonly finished: number;
  /** The same scores as training places them: penalised, normalised, clipped. */
  readonly shaped: TokenAndTextScores;
  readonly columns: TokenColumns;
}

/** Summarises the responses of an evaluation. */
export function performanceOf(
  responses: EvaluatedResponses,
  config: PerformanceConfig,
): Performance {
  const { greedyScores, refScores, tokens, scores, columns, bySource, finished } = responses;
  const sources = [...bySource].map(([name, x]) => [
    name,
    { mean: mean(x), std: standardDeviation(x) },
  ]);
  const wins = winRate(greedyScores, refScores);
  return {
    prompts: greedyScores.length,
    greedyReward: mean(greedyScores),
    reward: mean(scores),
    rewardStd: standardDeviation(scores),
    rewardInterval: meanInterval(meanPerPrompt(scores, config.evalBestOf)),
    rewards: Object.fromEntries(sources),
    finishedRate: finished / scores.length,
    responses: scores.length,
    bestOfN: bestOfN(scores, config.evalBestOf),
    winRate: wins,
    winRateInterval: proportionInterval(wins, greedyScores.length),
    kl: mean(sumPerResponse(columns.logratios, columns.offsets)),
    entropy: mean(columns.entropies),
    length: mean(tokens.map(({ length }) => length)),
    repetition: repetition(tokens),
    explainedVariance: valuesExplained(responses, config),
  };
}

/** The sum over each response's tokens.
 *  @example offsets=[0, 2, 3], column=[1, 2, 5]  →  [3, 5] */
export function sumPerResponse(column: Float32Array, offsets: Int32Array): number[] {
  return splitByOffsets(column, offsets).map((part) => part.reduce((sum, x) => sum + x, 0));
}

/** Explained variance of the returns G_t = Σ_i γ^i·r_{t+i} of training's rewards. The rewards are not
 *  whitened, so with `whitenRewards` the values have a different scale and this is not meaningful. */
function valuesExplained(
  { shaped, columns }: EvaluatedResponses,
  config: PerformanceConfig,
): number {
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

/** The mean over prompts of the best of n scores; the scores of one prompt are next to each other.
 *  @example n=2, scores=[1, 3, 0, −2]  →  (3 + 0)/2 = 1.5 */
export function bestOfN(scores: ArrayLike<number>, n: number): number {
  return mean(scoresPerPrompt(scores, n).map((own) => Math.max(...own)));
}

/** The mean of each prompt's scores. Responses to one prompt are not independent, prompts are.
 *  @example n=2, scores=[1, 3, 0, −2]  →  [2, −1] */
function meanPerPrompt(scores: ArrayLike<number>, n: number): number[] {
  return scoresPerPrompt(scores, n).map(mean);
}

function scoresPerPrompt(scores: ArrayLike<number>, n: number): number[][] {
  if (scores.length % n !== 0) {
    throw new Error(`Internal: ${scores.length} scores are not ${n} per prompt`);
  }
  return Array.from({ length: scores.length / n }, (_, prompt) =>
    Array.from({ length: n }, (_, i) => scores[prompt * n + i]!),
  );
}

/** The fraction of pairs in which the first score is higher; a tie counts ½.
 *  @example [1, 2, 3, 0] against [0, 2, 5, 0]  →  (1 + ½ + 0 + ½)/4 = ½ */
export function winRate(scores: ArrayLike<number>, refScores: ArrayLike<number>): number {
  if (scores.length !== refScores.length) {
    throw new Error(`Internal: ${scores.length} scores and ${refScores.length} reference scores`);
  }
  return mean(
    Array.from(scores, (score, i) => {
      const refScore = refScores[i]!;
      return score === refScore ? 0.5 : Number(score > refScore);
    }),
  );
}

/** The fraction of a response's 3-grams of token ids that occurred before in it, averaged over
 *  responses; 0 for a response of fewer than three tokens.
 *  @example [[7, 7, 7, 7, 7], [1, 2, 3, 1, 2, 3], [4]]  →  (⅔ + ¼ + 0)/3 = 11/36 */
export function repetition(responses: readonly ArrayLike<number>[]): number {
  return mean(responses.map(repeatedFraction));
}

function repeatedFraction(tokens: ArrayLike<number>): number {
  const count = tokens.length - 2;
  if (count < 1) return 0;
  const seen = new Set<string>();
  for (let t = 0; t < count; t++) seen.add(`${tokens[t]},${tokens[t + 1]},${tokens[t + 2]}`);
  return 1 - seen.size / count;
}
