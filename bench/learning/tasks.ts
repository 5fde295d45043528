import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { RewardSample } from '../../src/reward-kl/index.ts';
import { negative, positive } from './words.ts';

/** What every run of a task must keep. */
export interface Bounds {
  /** Rise of the validation reward. */
  readonly margin: number;
  /** Highest KL of a response at the end, in nats; without the penalty it is passed. */
  readonly kl: number;
  /** Lowest explained variance of the values at the end. */
  readonly explainedVariance: number;
}

/** Something to learn that a few lines can score. */
export interface Task {
  readonly name: string;
  readonly reward: (sample: RewardSample) => number;
  readonly config: PPOConfigOptions;
  readonly steps: number;
  readonly bounds: Bounds;
}

const MAX_NEW_TOKENS = 12;
const TARGET_LENGTH = 6;

/** The model is small and fresh, so rates are 500 times the defaults. A step has 64 responses: with
 *  32, values learn from too few to tell the state from chance. β = 0.025 lets a word that earns
 *  1/12 become e^(1/12β) = 28 times as likely. */
const common = {
  maxNewTokens: MAX_NEW_TOKENS,
  batchSize: 32,
  samplesPerPrompt: 2,
  rolloutBatchSize: 64,
  learningRate: 5e-3,
  valueLearningRate: 5e-3,
  klCoef: 0.025,
} satisfies PPOConfigOptions;

/** A good length policy always stops at 6: with γ = 0.99 all returns are near 1, and what is left of
 *  their variance is the chance of the last draw, which no value can foresee. With γ = 0.9 a return
 *  tells how far the end is, and a value that explains it has learned to count. Timing is the
 *  harder task: higher rates and more steps; the rates fall, so that the values settle. */
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
    bounds: { margin: 0.5, kl: 17, explainedVariance: 0.4 },
  },
  {
    name: 'positive-words',
    reward: positiveWords,
    config: common,
    steps: 60,
    bounds: { margin: 0.3, kl: 30, explainedVariance: 0.5 },
  },
];

/** Words that end in x, over the most that a response may have.
 *  @example fox day ox  →  2/12 */
export function endsInX({ response }: Pick<RewardSample, 'response'>): number {
  const words = response.split(' ');
  return words.filter((word) => word.endsWith('x')).length / MAX_NEW_TOKENS;
}

/** 1 − |n − 6|/6 for n tokens, the stop token among them; 0 for a response that never stops.
 *  @example fox day ox and a stop  →  1 − 2/6 = ⅔ */
export function targetLength({
  tokens,
  finished,
}: Pick<RewardSample, 'tokens' | 'finished'>): number {
  return finished ? 1 - Math.abs(tokens.length - TARGET_LENGTH) / TARGET_LENGTH : 0;
}

/** (positive − negative words) over the most words that a response may have.
 *  @example good day bad good  →  1/12 */
export function positiveWords({ response }: Pick<RewardSample, 'response'>): number {
  const words = response.split(' ');
  const count = (lexicon: readonly string[]) =>
    words.filter((word) => lexicon.includes(word)).length;
  return (count(positive) - count(negative)) / MAX_NEW_TOKENS;
}
