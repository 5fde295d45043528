import { makeSplitPost } from '../embedded/world/make-post.ts';
import type { PPOConfigOptions } from '../web/index.ts';

/** What adapters call their base: the model that comes with proximal. */
export const MODEL_NAME = 'proximal/embedded';

export const SEED = 1;
export const MAX_STEPS = 1000;

/** Settings of PPO that suit the embedded model: the reward moves within a few steps. */
const config: PPOConfigOptions = {
  maxNewTokens: 48,
  samplesPerPrompt: 2,
  rolloutBatchSize: 16,
  ppoEpochs: 2,
  learningRate: 2e-3,
  valueLearningRate: 4e-3,
  gamma: 1,
  loraTargets: ['all-linear'],
  missingEosPenalty: 1,
  seed: SEED,
};

/** Prompts per step; people compare fewer pairs than a function scores. */
const batchSizes = { function: 8, people: 3 };

/** The settings of a run.
 *  @param by who computes the reward */
export function runConfig(by: keyof typeof batchSizes, klCoef: number): PPOConfigOptions {
  return { ...config, batchSize: batchSizes[by], klCoef };
}

/** The posts that a run learns to summarise. */
export function makePrompts(): string[] {
  return Array.from(
    { length: 2000 },
    (_, number) => makeSplitPost('ppo', { seed: SEED, number }).text,
  );
}
