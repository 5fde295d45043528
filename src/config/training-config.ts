import { z } from 'zod';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);

/** How long a run goes on, what it looks at on the way, and what it keeps. */
export const trainingConfigShape = {
  numEpochs: count.default(10).describe('Passes over the prompts'),
  maxSteps: count.optional().describe('Steps after which a run ends, whatever the epochs'),
  shuffle: z.boolean().default(true).describe('Take the prompts of each epoch in another order'),
  evalInterval: z
    .int()
    .min(0)
    .default(10)
    .describe('Steps between evaluations on the validation prompts; 0 only at the end'),
  evalBestOf: count
    .default(4)
    .describe('Sampled responses to each validation prompt, for mean and best-of-n reward'),
  saveInterval: z.int().min(0).default(10).describe('Steps between checkpoints; 0 only at the end'),
  keepCheckpoints: count.default(2).describe('Newest checkpoints that are kept, besides the best'),
  logSamples: z.int().min(0).default(4).describe('Responses of each step that are written down'),
  logTokens: z
    .int()
    .min(0)
    .default(4)
    .describe('Of these responses, those whose every token is written down with its numbers'),
  topLogprobs: z
    .int()
    .min(0)
    .default(5)
    .describe('Likeliest tokens that are written down beside each token; 0 none'),
  minEntropy: z
    .number()
    .min(0)
    .default(0.01)
    .describe('Entropy of a token, in nats, below which the policy has collapsed'),
  maxRepetition: z
    .number()
    .positive()
    .max(1)
    .default(0.8)
    .describe('Part of repeated 3-grams in responses above which the policy has collapsed'),
  maxKl: z
    .number()
    .positive()
    .default(100)
    .describe('KL of a response, in nats, above which the policy has left its reference'),
  maxDegradation: z
    .number()
    .positive()
    .default(3)
    .describe('Fall of the validation reward from its best, in standard deviations, that counts'),
  plateauPatience: z
    .int()
    .min(0)
    .default(0)
    .describe('Evaluations without a better reward after which a run has converged; 0 never'),
  plateauDelta: z
    .number()
    .min(0)
    .default(0.01)
    .describe('Rise of the reward, in standard deviations, that counts as better'),
  stopOnCollapse: z
    .boolean()
    .default(true)
    .describe('Stop once the policy has collapsed, left its reference or degraded'),
};

export const trainingConfigSchema = z.strictObject(trainingConfigShape);

/** What a user may give: everything has a default. */
export type TrainingConfigOptions = z.input<typeof trainingConfigSchema>;

/** A run's course with every default filled in. */
export type TrainingConfig = Readonly<z.output<typeof trainingConfigSchema>>;

/** Checks a run's course and fills in the defaults. */
export function resolveTrainingConfig(options: TrainingConfigOptions = {}): TrainingConfig {
  return parseConfig(trainingConfigSchema, options, { name: 'the training config' });
}
