import { z } from 'zod';
import { loraConfigShape } from './lora-config.ts';
import { parseConfig, type WithModel } from './parse-config.ts';
import { findDeviceContradiction, ppoConfigShape } from './ppo-config.ts';
import { trainingConfigShape } from './training-config.ts';

const count = z.int().min(1);
const rate = z.number().positive();

const { modelName, revision, basePrecision, device, adapter, seed } = ppoConfigShape;
const { schedule, warmupSteps, weightDecay, maxGradNorm, saveActivations } = ppoConfigShape;
const { maxSteps, shuffle, evalInterval, saveInterval, keepCheckpoints } = trainingConfigShape;

/** Fields that SFT and reward-model training share. */
const stageShape = {
  modelName,
  revision,
  basePrecision,
  device,
  adapter: adapter.describe(
    'LoRA adapter to start from, such as the result of SFT; its rank and modules replace the settings',
  ),
  seed,
  numEpochs: count.default(1).describe('Passes over the data'),
  maxSteps,
  shuffle,
  batchSize: count.default(16).describe('Texts, or pairs of texts, per optimiser step'),
  maxTokensAtOnce: count
    .default(2048)
    .describe(
      'Most tokens per forward and backward pass; changes memory, and results by rounding and, with loraDropout, by other dropout masks',
    ),
  schedule: schedule
    .unwrap()
    .default('cosine')
    .describe('How the learning rate changes over the run'),
  warmupSteps,
  adamEps: rate.default(1e-8).describe("Added to the denominator of AdamW's update"),
  weightDecay,
  maxGradNorm,
  saveActivations,
  evalInterval: evalInterval.describe(
    'Steps between validations; 0 validates only before the first and after the last step',
  ),
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
    .describe('Train all weights instead of an adapter, for small models'),
};

/** Training of a reward model from preferences. */
export const rewardConfigShape = {
  ...stageShape,
  learningRate: rate.default(1e-4).describe('Learning rate of the adapter and the head'),
};

/** Rejects what training all weights excludes: an initial adapter, which the whole model must contain, and
 *  a base in bytes, which cannot be trained. */
export function refineFullParameters(
  {
    adapter,
    fullParameters,
    basePrecision,
    device,
  }: Pick<
    z.output<z.ZodObject<typeof sftConfigShape>>,
    'adapter' | 'fullParameters' | 'basePrecision' | 'device'
  >,
  context: z.RefinementCtx,
): void {
  const contradiction = findDeviceContradiction({ device, basePrecision });
  if (contradiction !== undefined) context.addIssue({ code: 'custom', message: contradiction });
  if (!fullParameters) return;
  if (device === 'webgpu') {
    const message = `device must be cpu with fullParameters, because only adapters are trained on webgpu, got ${device}`;
    context.addIssue({ code: 'custom', message });
  }
  if (basePrecision !== 'f32') {
    const rule = 'because the weights themselves are trained';
    const message = `basePrecision must be f32 with fullParameters, ${rule}, got ${basePrecision}`;
    context.addIssue({ code: 'custom', message });
  }
  if (adapter === undefined) return;
  const message = `fullParameters must be false to start from the adapter ${adapter}, got true; merge the adapter with "proximal merge" and start from that model, or leave out fullParameters`;
  context.addIssue({ code: 'custom', message });
}

const sftConfigSchema = z.strictObject(sftConfigShape).superRefine(refineFullParameters);
const rewardConfigSchema = z.strictObject(rewardConfigShape);

/** Settings of supervised fine-tuning as users write them. */
export type SFTConfigOptions = WithModel<z.input<typeof sftConfigSchema>>;
/** Settings of supervised fine-tuning, with defaults filled in. */
export type SFTConfig = Readonly<z.output<typeof sftConfigSchema>>;
/** Settings of reward model training as users write them. */
export type RewardConfigOptions = WithModel<z.input<typeof rewardConfigSchema>>;
/** Settings of reward model training, with defaults filled in. */
export type RewardConfig = Readonly<z.output<typeof rewardConfigSchema>>;

/** What the training loop of both stages reads. */
export type StageConfig = Omit<RewardConfig, 'learningRate'>;

/** Checks SFT options and fills in the defaults. */
export function resolveSFTConfig(options: SFTConfigOptions = {}): SFTConfig {
  return parseConfig(sftConfigSchema, options, { name: 'the SFT config' });
}

/** Checks the options of reward-model training and fills in the defaults. */
export function resolveRewardConfig(options: RewardConfigOptions = {}): RewardConfig {
  return parseConfig(rewardConfigSchema, options, { name: 'the reward config' });
}
