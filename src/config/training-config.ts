import { z } from 'zod';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);

/** The length of a run, and when it evaluates, saves, logs and stops. */
export const trainingConfigShape = {
  numEpochs: count.default(10).describe('Passes over the prompts'),
  maxSteps: count
    .optional()
    .describe(
      'Steps of the whole run, instead of numEpochs; with --resume, another number of steps to extend a run to',
    ),
  shuffle: z.boolean().default(true).describe('Shuffle the prompts in each epoch'),
  evalInterval: z
    .int()
    .min(0)
    .default(10)
    .describe(
      'Steps between evaluations on the validation prompts; 0 evaluates only before the first and after the last step',
    ),
  evalBestOf: count
    .default(4)
    .describe('Sampled responses per validation prompt, for mean and best-of-n reward'),
  saveInterval: z
    .int()
    .min(0)
    .default(10)
    .describe('Steps between checkpoints; 0 saves only the best and the last step'),
  keepCheckpoints: count.default(2).describe('Newest checkpoints to keep, in addition to the best'),
  logSamples: z.int().min(0).default(4).describe('Responses per step and evaluation to log'),
  logTokens: z
    .int()
    .min(0)
    .default(4)
    .describe('Number of logged responses with the numbers of every token'),
  topLogprobs: z
    .int()
    .min(0)
    .default(5)
    .describe('Most likely alternatives to log per token; 0 logs none'),
  minEntropy: z
    .number()
    .min(0)
    .default(0.01)
    .describe('Mean entropy per token, in nats, below which the policy counts as collapsed'),
  maxRepetition: z
    .number()
    .positive()
    .max(1)
    .default(0.8)
    .describe(
      'Fraction of repeated 3-grams in responses above which the policy counts as collapsed, if it is also above the first evaluation',
    ),
  maxKl: z
    .number()
    .positive()
    .default(100)
    .describe(
      'KL per response, in nats, above which the policy counts as diverged from the reference',
    ),
  maxDegradation: z
    .number()
    .positive()
    .default(3)
    .describe(
      'Drop of the validation reward below its best, in standard errors of the difference, that counts as degraded',
    ),
  plateauPatience: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Evaluations without a better reward after which the run counts as converged and stops, unless the KL still changes or the value model still improves; 0 means never',
    ),
  plateauDelta: z
    .number()
    .min(0)
    .default(0.01)
    .describe(
      'Increase of the validation reward, in standard errors of the difference, that counts as better',
    ),
  trendWindow: z
    .int()
    .min(3)
    .default(4)
    .describe('Evaluations over which the trends of KL and explained variance are measured'),
  klStability: z
    .number()
    .min(0)
    .default(0.2)
    .describe(
      'Change of the KL over the window, as a fraction of its mean (at least 1 nat), up to which it counts as stable',
    ),
  valueStability: z
    .number()
    .min(0)
    .default(0.05)
    .describe(
      'Change of the explained variance over the window up to which the value model counts as converged',
    ),
  stopOnCollapse: z
    .boolean()
    .default(true)
    .describe(
      'Stop the run once the policy has collapsed, diverged or degraded, instead of only warning',
    ),
};

export const trainingConfigSchema = z.strictObject(trainingConfigShape);

/** Training options; every field has a default. */
export type TrainingConfigOptions = z.input<typeof trainingConfigSchema>;

/** Training options with all defaults filled in. */
export type TrainingConfig = Readonly<z.output<typeof trainingConfigSchema>>;

/** Checks training options and fills in the defaults. */
export function resolveTrainingConfig(options: TrainingConfigOptions = {}): TrainingConfig {
  return parseConfig(trainingConfigSchema, options, { name: 'the training config' });
}
