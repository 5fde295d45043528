import { z } from 'zod';
import { completionOptionsSchema, refineTemplate } from './completion-config.ts';
import type { RunKind } from './run-kind.ts';
import { sftConfigShape } from './stage-config.ts';
import { outputField, parseStageRun, stageDataShape } from './stage-run-config.ts';

/** What a run of supervised fine-tuning writes. */
export const sftOutputShape = {
  output: outputField('sft'),
  merged: z
    .boolean()
    .default(false)
    .describe('Write the whole model with the adapter merged into it, as PPO can start from'),
};

/** Where texts come from and what is done to them. */
export const sftDataShape = { ...stageDataShape, ...completionOptionsSchema.shape };

/** All that a run of supervised fine-tuning is told, as one flat list. */
const sftRunConfigShape = { ...sftDataShape, ...sftOutputShape, ...sftConfigShape };

export const sftRunConfigSchema = z.strictObject(sftRunConfigShape).superRefine(refineTemplate);

/** What a user may give: everything but the data has a default. */
export type SFTRunConfigOptions = z.input<typeof sftRunConfigSchema>;

export type SFTRunConfig = Readonly<z.output<typeof sftRunConfigSchema>>;

/** `proximal sft` */
export const sftKind: RunKind<SFTRunConfigOptions, SFTRunConfig> = {
  command: 'sft',
  prefix: 'sft',
  shape: sftRunConfigShape,
  resolve: (options, { name = 'the SFT config' } = {}) =>
    parseStageRun(sftRunConfigSchema, options, { name }),
};
