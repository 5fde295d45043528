import { z } from 'zod';
import { preferenceOptionsSchema, refinePreferences } from './preference-config.ts';
import type { RunKind } from './run-kind.ts';
import { rewardConfigShape } from './stage-config.ts';
import { outputField, parseStageRun, stageDataShape } from './stage-run-config.ts';

/** Where a reward model goes. */
export const rewardOutputShape = { output: outputField('reward') };

/** Where preferences come from and what is done to them. */
export const rewardDataShape = { ...stageDataShape, ...preferenceOptionsSchema.shape };

/** All that the training of a reward model is told, as one flat list. */
const rewardRunConfigShape = {
  ...rewardDataShape,
  ...rewardOutputShape,
  ...rewardConfigShape,
};

export const rewardRunConfigSchema = z
  .strictObject(rewardRunConfigShape)
  .superRefine(refinePreferences);

/** What a user may give: everything but the data has a default. */
export type RewardRunConfigOptions = z.input<typeof rewardRunConfigSchema>;

export type RewardRunConfig = Readonly<z.output<typeof rewardRunConfigSchema>>;

/** `proximal reward` */
export const rewardKind: RunKind<RewardRunConfigOptions, RewardRunConfig> = {
  command: 'reward',
  prefix: 'reward',
  shape: rewardRunConfigShape,
  resolve: (options, { name = 'the reward config' } = {}) =>
    parseStageRun(rewardRunConfigSchema, options, { name }),
};
