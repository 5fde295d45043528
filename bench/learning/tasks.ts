import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { RewardSample } from '../../src/reward-kl/index.ts';
import { negative, positive } from './words.ts';

/** Bounds that every run of a task must meet. */
export interface Bounds {
  /** Minimum increase of the validation reward. */
  readonly margin: number;
  /** Maximum KL per response at the end, in nats; runs without the penalty exceed it. */
  readonly kl: number;
  /** Minimum explained variance of the values at the end. */
  readonly explainedVariance: number;
}

/** A task that a few lines of code can score. */
export interface Task {
  readonly name: string;
  readonly reward: (sample: RewardSample) => number;
  readonly config: PPOConfigOptions;
  readonly steps: number;
  readonly bounds: Bounds;
}

const MAX_NEW_TOKENS = 12;
const TARGET_LENGTH = 6;

/** The model is small and untrained, so learning rates are 500 times the defaults. A step has 64
 *  responses: 32 are too few for the values to separate the state from noise. With β = 0.025 a word that earns
 *  1/12 can become e^(1/12β) = 28 times as likely. */
const common = {
  maxNewTokens: MAX_NEW_TOKENS,
  batchSize: 32,
  samplesPerPrompt: 2,
  rolloutBatchSize: 64,
  learningRate: 5e-3,
  valueLearningRate: 5e-3,
  klCoef: 0.025,
} satisfies PPOConfigOptions;

/** A good length policy always stops at 6: with γ = 0.99 all returns are near 1, and the remaining
 *  variance is the randomness of the last token, which no value can predict. With γ = 0.9 a return
 *  depends on the distance to the end, so a value that explains it has learned to count. Timing is
 *  harder: it gets higher rates and more steps; the rates decay, so that the values settle. */
const timing = {
  ...common,
  gamma: 0.9,
  learningRate: 1.5e-2,
  valueLearningRate: 1.5e-2,
  klCoef: 0.02,
  schedule: 'linear',
} satisfies PPOConfigOptions;

export const tasks: readonly Task[] = [
  {
    name: 'ends-in-x',
    reward: endsInX,
    config: common,
    steps: 60,
    bounds: { margin: 0.2, kl: 30, explainedVariance: 0.5 },
  },
  {
    name: 'target-length',
    reward: targetLength,
    config: timing,
    steps: 150,
    bounds: { margin: 0.5, kl: 17, explainedVariance: 0.3 },
  },
  {
    name: 'positive-words',
    reward: positiveWords,
    config: common,
    steps: 60,
    bounds: { margin: 0.3, kl: 30, explainedVariance: 0.5 },
  },
];

/** Words that end in x, divided by the maximum length.
 *  @example fox day ox  →  2/12 */
export function endsInX({ response }: Pick<RewardSample, 'response'>): number {
  const words = response.split(' ');
  return words.filter((word) => word.endsWith('x')).length / MAX_NEW_TOKENS;
}

/** 1 − |n − 6|/6 for n tokens, including the stop token; 0 if the response never stops.
 *  @example fox day ox and a stop  →  1 − 2/6 = ⅔ */
export function targetLength({
  tokens,
  finished,
}: Pick<RewardSample, 'tokens' | 'finished'>): number {
  return finished ? 1 - Math.abs(tokens.length - TARGET_LENGTH) / TARGET_LENGTH : 0;
}

/** (positive − negative words), divided by the maximum length.
 *  @example good day bad good  →  1/12 */
export function positiveWords({ response }: Pick<RewardSample, 'response'>): number {
  const words = response.split(' ');
  const count = (lexicon: readonly string[]) =>
    words.filter((word) => lexicon.includes(word)).length;
  return (count(positive) - count(negative)) / MAX_NEW_TOKENS;
}
