import { z } from 'zod';
import { loraConfigShape } from './lora-config.ts';
import { parseConfig } from './parse-config.ts';
import { ppoConfigShape } from './ppo-config.ts';
import { trainingConfigShape } from './training-config.ts';

const count = z.int().min(1);
const rate = z.number().positive();

const { modelName, revision, seed } = ppoConfigShape;
const { schedule, warmupSteps, weightDecay, maxGradNorm, saveActivations } = ppoConfigShape;
const { maxSteps, shuffle, evalInterval, saveInterval, keepCheckpoints } = trainingConfigShape;

/** What SFT and reward models have in common. */
const stageShape = {
  modelName,
  revision,
  seed,
  numEpochs: count.default(1).describe('Passes over the data'),
  maxSteps,
  shuffle,
  batchSize: count.default(16).describe('Texts, or pairs of them, of one optimiser step'),
  maxTokensAtOnce: count
    .default(2048)
    .describe('Tokens that run together: fewer need less memory, the result is the same'),
  schedule: schedule
    .unwrap()
    .default('cosine')
    .describe('How the learning rate falls over the run'),
  warmupSteps,
  adamEps: rate.default(1e-8).describe("Added to AdamW's root of the second moment"),
  weightDecay,
  maxGradNorm,
  saveActivations,
  evalInterval: evalInterval.describe('Steps between validations; 0 only at the end'),
  saveInterval,
  keepCheckpoints,
  ...loraConfigShape,
};

/** Supervised fine-tuning. */
export const sftConfigShape = {
  ...stageShape,
  learningRate: rate.default(2e-4).describe('Learning rate'),
  fullParameters: z
    .boolean()
    .default(false)
    .describe('Train all weights instead of an adapter; for small models'),
};

/** A reward model from preferences. */
export const rewardConfigShape = {
  ...stageShape,
  learningRate: rate.default(1e-4).describe('Learning rate of adapter and head'),
};

const sftConfigSchema = z.strictObject(sftConfigShape);
const rewardConfigSchema = z.strictObject(rewardConfigShape);

export type SFTConfigOptions = z.input<typeof sftConfigSchema>;
export type SFTConfig = Readonly<z.output<typeof sftConfigSchema>>;
export type RewardConfigOptions = z.input<typeof rewardConfigSchema>;
export type RewardConfig = Readonly<z.output<typeof rewardConfigSchema>>;

/** What the loop of a stage goes by. */
export type StageConfig = Omit<RewardConfig, 'learningRate'>;

export function resolveSFTConfig(options: SFTConfigOptions = {}): SFTConfig {
  return parseConfig(sftConfigSchema, options, { name: 'the SFT config' });
}

export function resolveRewardConfig(options: RewardConfigOptions = {}): RewardConfig {
  return parseConfig(rewardConfigSchema, options, { name: 'the reward config' });
}
