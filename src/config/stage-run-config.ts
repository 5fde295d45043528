import { z } from 'zod';
import { completionOptionsSchema } from './completion-config.ts';
import { refineTemplate } from './data-config.ts';
import { ConfigError, parseConfig, type WithModel } from './parse-config.ts';
import { preferenceOptionsSchema, refinePreferences } from './preference-config.ts';
import type { RunKind } from './run-config.ts';
import { refineFullParameters, rewardConfigShape, sftConfigShape } from './stage-config.ts';

const name = z.string().min(1);

/** Where the rows of SFT or reward-model training come from. */
const stageDataShape = {
  data: name.describe('Training rows: a file or the id of a hub dataset, such as owner/name'),
};

/** Checks the config of a run; `data` has no default. */
function parseStageRun<S extends z.ZodObject>(
  schema: S,
  options: Readonly<Record<string, unknown>>,
  { name: configName }: { readonly name: string },
): z.output<S> {
  if (options.data === undefined) {
    throw new ConfigError(
      `Cannot use ${configName}: data must be set to a file such as data.jsonl or the id of a hub dataset, got nothing`,
    );
  }
  return parseConfig(schema, options, { name: configName });
}

function outputField(prefix: string) {
  return name
    .optional()
    .describe(`Folder of the run, which must be new or empty; default: runs/${prefix}-<time>`);
}

/** What an SFT run writes. */
export const sftOutputShape = {
  output: outputField('sft'),
  merged: z
    .boolean()
    .default(false)
    .describe('Write the whole model with the adapter merged into it'),
};

/** Where texts come from and how rows become texts. */
export const sftDataShape = { ...stageDataShape, ...completionOptionsSchema.shape };

/** All fields of an SFT run in one flat object. */
const sftRunConfigShape = { ...sftDataShape, ...sftOutputShape, ...sftConfigShape };

export const sftRunConfigSchema = z
  .strictObject(sftRunConfigShape)
  .superRefine(refineTemplate)
  .superRefine(refineFullParameters);

/** Run options; every field but `data` has a default. */
export type SFTRunConfigOptions = WithModel<z.input<typeof sftRunConfigSchema>>;

/** Config of a supervised fine-tuning run, with defaults filled in. */
export type SFTRunConfig = Readonly<z.output<typeof sftRunConfigSchema>>;

/** `proximal sft` */
export const sftKind: RunKind<SFTRunConfigOptions, SFTRunConfig> = {
  command: 'sft',
  prefix: 'sft',
  shape: sftRunConfigShape,
  resolve: (options, { name = 'the SFT config' } = {}) =>
    parseStageRun(sftRunConfigSchema, options, { name }),
};

/** What a run of reward-model training writes. */
export const rewardOutputShape = { output: outputField('reward') };

/** Where preferences come from and how rows become preferences. */
export const rewardDataShape = { ...stageDataShape, ...preferenceOptionsSchema.shape };

/** All fields of a run of reward-model training in one flat object. */
const rewardRunConfigShape = {
  ...rewardDataShape,
  ...rewardOutputShape,
  ...rewardConfigShape,
};

export const rewardRunConfigSchema = z
  .strictObject(rewardRunConfigShape)
  .superRefine(refinePreferences);

/** Run options; every field but `data` has a default. */
export type RewardRunConfigOptions = WithModel<z.input<typeof rewardRunConfigSchema>>;

/** Config of a reward model training run, with defaults filled in. */
export type RewardRunConfig = Readonly<z.output<typeof rewardRunConfigSchema>>;

/** `proximal reward` */
export const rewardKind: RunKind<RewardRunConfigOptions, RewardRunConfig> = {
  command: 'reward',
  prefix: 'reward',
  shape: rewardRunConfigShape,
  resolve: (options, { name = 'the reward config' } = {}) =>
    parseStageRun(rewardRunConfigSchema, options, { name }),
};
