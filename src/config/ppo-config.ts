import { z } from 'zod';
import { generationConfigSchema } from './generation-config.ts';
import { type LoraFields, loraConfigShape, loraLayersSchema } from './lora-config.ts';
import { parseConfig, type WithModel } from './parse-config.ts';
import { findRolloutError } from './rollout-spec.ts';

const count = z.int().min(1);
const rate = z.number().positive();

const { maxNewTokens, temperature, topK, topP, minP } = generationConfigSchema.shape;

/** Every hyper-parameter of PPO, with the specification's names and defaults. */
export const ppoConfigShape = {
  preset: z
    .enum(['specification'])
    .optional()
    .describe(
      "Settings by name, which other settings override. specification: the specification's formulas to the letter, with the score on every token and rewards normalised over the step; default: none",
    ),
  modelName: z
    .string()
    .min(1)
    .default('Qwen/Qwen3-0.6B-Base')
    .describe('Base model: a folder or a Hugging Face hub id'),
  revision: z.string().min(1).optional().describe('Branch, tag or commit on the hub'),
  basePrecision: z
    .enum(['f32', 'int8', 'auto'])
    .default('f32')
    .describe(
      'Precision of the frozen base in every role: f32; int8, which rounds its matrices to 8 bits and takes a quarter of the memory; or auto, which measures once whether int8 is faster on this machine',
    ),
  device: z
    .enum(['auto', 'cpu', 'webgpu'])
    .default('auto')
    .describe(
      'Where graphs run: cpu; webgpu, a GPU with a Vulkan, Metal or Direct3D 12 driver, which needs basePrecision f32; or auto, which is cpu, because a GPU cannot be told from a software renderer',
    ),
  adapter: z
    .string()
    .min(1)
    .optional()
    .describe(
      'LoRA adapter that the policy starts from, such as the result of SFT; the reference is then the base model with this initial adapter',
    ),
  seed: z.int().default(0).describe('Random seed; the same seed repeats the same run'),
  maxNewTokens,
  temperature: temperature
    .unwrap()
    .positive()
    .default(1)
    .describe('Divides the logits in rollout, reference and update'),
  topK,
  topP,
  minP,
  stop: generationConfigSchema.shape.stop,
  samplesPerPrompt: count.default(1).describe('Responses per prompt in a step'),
  rolloutPrecision: generationConfigSchema.shape.precision.describe(
    'Precision of the weights while generating: f32 is fast, f32-feeds shares the base weights instead of copying them, int8 multiplies bytes and corrects by importance weights, int8-packed does so with a copy of an int8 base, which is faster; if basePrecision is int8 or auto the default is int8-packed for maxNewTokens of 64 or more, else int8',
  ),
  rolloutBatchSize: count
    .optional()
    .describe(
      'Responses generated at the same time; default: 32, or fewer if their keys and values need more than 1 GiB',
    ),
  rollouts: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Server that generates the responses of training steps: vllm:http://host:8000 or sglang:http://host:30000; evaluation stays local; default: this process generates them',
    ),
  rolloutFolder: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder in which the server of rollouts finds the adapters of the policy, at the same path on both machines; default: a temporary folder, for a server on the same machine',
    ),

  batchSize: count.default(4).describe('Prompts per step'),
  ppoEpochs: count.default(4).describe('Passes over the experience buffer per step'),
  miniBatchSize: count.optional().describe('Responses per optimiser step; default: all'),
  bufferCapacity: count
    .optional()
    .describe(
      'Most responses in the experience buffer: if more than one step produces, the update also trains on the newest responses of earlier steps; default: the responses of one step',
    ),
  bufferOverflow: z
    .enum(['drop-oldest', 'clear', 'refuse'])
    .default('drop-oldest')
    .describe(
      "What happens if a step's responses do not fit into the buffer: the oldest responses leave, all earlier responses leave, or the run ends with an error (refuse)",
    ),
  bufferSampling: z
    .enum(['shuffled', 'sequential', 'by-length', 'uniform'])
    .default('shuffled')
    .describe(
      'How a PPO epoch forms minibatches: each response once in random order, in stored order or grouped by length, or sampled with replacement (uniform)',
    ),
  rolloutShardSize: count
    .optional()
    .describe('Prompts per rollout job; default: all prompts of a step in one job'),
  microBatchSize: count
    .optional()
    .describe(
      'Responses per forward and backward pass; changes memory, and results only by rounding; default: as many as fit maxTokensAtOnce',
    ),
  maxTokensAtOnce: count
    .default(1024)
    .describe(
      'Most tokens per forward and backward pass of the update; a longer response runs alone; changes memory, and results only by rounding',
    ),
  keepPasses: z
    .boolean()
    .optional()
    .describe(
      'Reuse the forward passes that computed values and logprobs in the first optimiser step, which costs memory; default: if all responses fit into one micro-batch or have at most maxCachedTokens',
    ),
  maxCachedTokens: count
    .optional()
    .describe(
      'Most tokens of a step whose forward passes are reused by default; default: as many as fit into half of the memory of the machine',
    ),
  learningRate: rate.default(1e-5).describe('Learning rate of the policy'),
  valueLearningRate: rate.default(1e-4).describe('Learning rate of the value model'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('How the learning rates change over the run'),
  warmupSteps: z
    .int()
    .min(0)
    .default(0)
    .describe('Optimiser steps over which the learning rate rises from 0'),
  adamEps: rate.default(1e-5).describe("Added to the denominator of AdamW's update"),
  weightDecay: z.number().min(0).default(0).describe('Weight decay of the adapters'),
  maxGradNorm: rate
    .default(1)
    .describe('Largest gradient norm per model; longer gradients are scaled down'),
  saveActivations: z
    .enum(['none', 'matmul', 'all'])
    .default('matmul')
    .describe(
      'Activations that the forward pass saves for the backward pass: fewer need less memory but more computation',
    ),

  klCoef: z.number().min(0).default(0.1).describe('β: weight of the KL penalty'),
  klEstimator: z
    .enum(['k1', 'k2', 'k3'])
    .default('k1')
    .describe(
      'KL estimate per token, with d = log π − log π_ref: k1 is d, k2 is ½d², k3 is e^(−d) − 1 + d; rloo, grpo and reinforce++ default to k3',
    ),
  klPlacement: z
    .enum(['reward', 'loss'])
    .default('reward')
    .describe(
      'Where the KL penalty applies: subtracted from the rewards or added to the loss; rloo, grpo and reinforce++ default to loss',
    ),
  klController: z
    .enum(['fixed', 'adaptive'])
    .default('fixed')
    .describe('Keep β fixed, or adapt it towards klTarget'),
  klTarget: rate.default(6).describe('Target KL per response for an adaptive β'),
  klHorizon: rate
    .default(10_000)
    .describe('Time scale of an adaptive β, in responses: larger is slower'),

  rewardPlacement: z
    .enum(['final', 'every', 'after-final'])
    .default('final')
    .describe(
      "Which tokens get a response's score: the last, every, or an extra step after the last as in TRL",
    ),
  missingEosPenalty: z
    .number()
    .min(0)
    .default(0)
    .describe('Subtracted from the score of a response without a stop token'),
  scoreNormalization: z
    .enum(['none', 'batch', 'running'])
    .default('none')
    .describe(
      'Normalise scores to mean 0 and standard deviation 1, over the step (batch) or the run (running)',
    ),
  scoreClip: rate.optional().describe('Clip scores to ± this value'),
  whitenRewards: z.boolean().default(false).describe('Scale rewards to standard deviation 1'),
  centerRewards: z
    .boolean()
    .default(false)
    .describe('Also shift rewards to mean 0 if whitenRewards is set'),

  advantageEstimator: z
    .enum(['gae', 'rloo', 'grpo', 'reinforce++'])
    .default('gae')
    .describe('How advantages are computed; only gae needs a value model'),
  gamma: z
    .number()
    .min(0)
    .max(1)
    .default(0.99)
    .describe('γ: discount factor of later rewards; rloo, grpo and reinforce++ default to 1'),
  lam: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe('λ of GAE: 0 uses one-step TD errors, 1 uses full returns'),
  whitenAdvantages: z
    .boolean()
    .default(true)
    .describe('Normalise advantages to mean 0 and standard deviation 1 over the step'),
  whitening: z
    .enum(['biased', 'unbiased'])
    .default('biased')
    .describe('Divide variances by n (biased) or n − 1 (unbiased)'),

  clipEpsilon: rate.default(0.2).describe('ε: the ratio π_new/π_old is clipped to 1 ± ε'),
  clipEpsilonHigh: rate.optional().describe('ε for ratios above 1; default: clipEpsilon'),
  dualClip: z
    .number()
    .gt(1)
    .optional()
    .describe('Upper bound of the ratio for negative advantages (dual clip); default: none'),
  ratioLevel: z
    .enum(['token', 'sequence'])
    .default('token')
    .describe('One ratio per token, or per response as in GSPO'),
  rolloutCorrection: z
    .number()
    .min(0)
    .default(2)
    .describe(
      'Cap on the importance weight π_old/π_sampling in the loss for tokens that were not sampled from π_old (int8 rollout, rollouts by a server, top-k, top-p, min-p); 0 means no correction',
    ),
  entropyCoef: z.number().min(0).default(0).describe('Weight of the entropy bonus'),
  targetKl: rate.optional().describe('Stop the update of a step early once approxKL exceeds this'),
  valueLoss: z
    .enum(['mse', 'clipped'])
    .default('mse')
    .describe('mse: (v − G)²; clipped: ½ of the larger of (v − G)² and its clipped form'),
  valueClip: rate
    .default(0.2)
    .describe('How far a value may move from its old value in the clipped loss'),
  valueLossCoef: z.number().positive().default(0.5).describe('Weight of the value loss'),
  valueInit: z
    .enum(['zero', 'reward'])
    .default('zero')
    .describe('What the value model starts from: a head of zeros, or a copy of the reward model'),

  ...loraConfigShape,
  valueLoraLayers: loraLayersSchema
    .optional()
    .describe('Layers of the value model that get an adapter; default: as loraLayers'),
};

export const ppoConfigSchema = z.strictObject(ppoConfigShape).superRefine((config, context) => {
  const message = findPpoContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** PPO options; every field has a default. */
export type PPOConfigOptions = WithModel<z.input<typeof ppoConfigSchema>>;

/** Hyper-parameters of PPO with all defaults filled in; also valid as options. */
export type PPOConfig = Readonly<z.output<typeof ppoConfigSchema>>;

/** The settings of each preset. */
export const presets = {
  // r'_t = R − β·KL_t on every token, normalised over the step, and the formulas after it as written:
  // advantages are not whitened.
  specification: {
    ...{ rewardPlacement: 'every', whitenRewards: true, centerRewards: true },
    ...{ klPlacement: 'reward', klEstimator: 'k1', klController: 'fixed', klCoef: 0.1 },
    ...{ advantageEstimator: 'gae', gamma: 0.99, lam: 0.95, whitenAdvantages: false },
    ...{ clipEpsilon: 0.2, ratioLevel: 'token', entropyCoef: 0, maxGradNorm: 1 },
    ...{ valueLoss: 'mse', valueLossCoef: 0.5, learningRate: 1e-5, valueLearningRate: 1e-4 },
  },
} as const satisfies Record<NonNullable<PPOConfigOptions['preset']>, PPOConfigOptions>;

/** Without values, a baseline or whitening divides by the spread of the scores. If all scores are
 *  equal, only KL in the reward and discounting would remain, scaled up to advantages of size 1.
 *  Therefore the KL penalty is in the loss, and nothing is discounted. */
const withoutValues = { klPlacement: 'loss', klEstimator: 'k3', gamma: 1 } as const;

const estimatorDefaults: {
  readonly [Name in PPOConfig['advantageEstimator']]: PPOConfigOptions;
} = { gae: {}, rloo: withoutValues, grpo: withoutValues, 'reinforce++': withoutValues };

/** Tokens from which a packed copy of an 8-bit base pays (docs/decisions/0016). */
const LONG_RESPONSE = 64;

/** Rollouts over an 8-bit base multiply bytes; long ones are faster from a packed copy. */
function rolloutDefaults({
  basePrecision = 'f32',
  maxNewTokens: longest = generationConfigSchema.shape.maxNewTokens.parse(undefined),
}: NonNullable<PPOConfigOptions>): PPOConfigOptions {
  if (basePrecision === 'f32') return {};
  return { rolloutPrecision: longest >= LONG_RESPONSE ? 'int8-packed' : 'int8' };
}

/** Fills in the defaults that depend on other settings: those of the preset, then of the estimator.
 *  Existing settings are kept.
 *  @example { advantageEstimator: 'grpo', gamma: 0.9 }  →  also klPlacement loss, klEstimator k3 */
export function fillDependentDefaults<O extends PPOConfigOptions>(options: O): O {
  const set = Object.fromEntries(
    Object.entries(options ?? {}).filter(([, value]) => value !== undefined),
  ) as O;
  const preset = presets[set.preset!];
  const estimator = set.advantageEstimator ?? preset?.advantageEstimator;
  return { ...estimatorDefaults[estimator!], ...rolloutDefaults(set), ...preset, ...set };
}

/** Checks hyper-parameters and fills in the defaults.
 *  @example { batchSize: 8 }  →  the defaults γ 0.99, λ 0.95, ε 0.2, β 0.1, and 8 prompts per step */
export function resolvePPOConfig(options: PPOConfigOptions = {}): PPOConfig {
  return parseConfig(ppoConfigSchema, fillDependentDefaults(options), { name: 'the PPO config' });
}

/** The adapter of a new value model. */
export function valueLoraFields(config: PPOConfig): LoraFields {
  return { ...config, loraLayers: config.valueLoraLayers ?? config.loraLayers };
}

/** Describes the first contradiction between two fields, if there is one. */
export function findPpoContradiction(config: PPOConfig): string | undefined {
  const { batchSize, samplesPerPrompt, miniBatchSize, microBatchSize } = config;
  const responses = batchSize * samplesPerPrompt;
  if (miniBatchSize !== undefined && miniBatchSize > responses) {
    return `miniBatchSize must be at most batchSize × samplesPerPrompt (${responses}), got ${miniBatchSize}`;
  }
  const { bufferCapacity = responses } = config;
  if (bufferCapacity < responses) {
    return `bufferCapacity must be at least batchSize × samplesPerPrompt (${responses}), got ${bufferCapacity}`;
  }
  const largest = miniBatchSize ?? responses;
  if (microBatchSize !== undefined && microBatchSize > largest) {
    return `microBatchSize must be at most the responses of an optimiser step (${largest}), got ${microBatchSize}`;
  }
  return (
    findDeviceContradiction(config) ??
    findEstimatorContradiction(config) ??
    findRangeContradiction(config) ??
    findRolloutError(config)
  );
}

/** Describes a precision that a device cannot compute in. */
export function findDeviceContradiction({
  device,
  basePrecision,
  rolloutPrecision = 'f32',
}: Pick<PPOConfig, 'device' | 'basePrecision'> & Partial<Pick<PPOConfig, 'rolloutPrecision'>>):
  | string
  | undefined {
  if (device !== 'webgpu') return undefined;
  if (basePrecision !== 'f32') {
    return `basePrecision must be f32 on device webgpu, got ${basePrecision}; use f32 or device cpu`;
  }
  if (rolloutPrecision.startsWith('int8')) {
    return `rolloutPrecision must be f32 on device webgpu, got ${rolloutPrecision}; use f32 or device cpu`;
  }
  return undefined;
}

function findEstimatorContradiction(config: PPOConfig): string | undefined {
  const { advantageEstimator: estimator, samplesPerPrompt, rewardPlacement } = config;
  if ((estimator === 'rloo' || estimator === 'grpo') && samplesPerPrompt < 2) {
    return `samplesPerPrompt must be at least 2 for ${estimator}, which compares responses to the same prompt, got ${samplesPerPrompt}`;
  }
  if (estimator !== 'gae' && rewardPlacement === 'after-final') {
    return `rewardPlacement must be final or every for ${estimator}, which has no value after the end, got after-final`;
  }
  if (estimator === 'grpo' && config.klPlacement === 'reward' && config.klCoef > 0) {
    return "klPlacement must be loss for grpo unless klCoef is 0, because a group's σ would scale the KL penalty in the reward up to advantages of size 1, got reward";
  }
  if ((estimator === 'rloo' || estimator === 'grpo') && config.whitenRewards) {
    return `whitenRewards must be false for ${estimator}, because whitened rewards add up to more for longer responses, got true`;
  }
  return undefined;
}

function findRangeContradiction(config: PPOConfig): string | undefined {
  const { clipEpsilon, clipEpsilonHigh = clipEpsilon, dualClip, klController, klCoef } = config;
  if (clipEpsilon >= 1)
    return `clipEpsilon must be < 1, because ratios are above 0, got ${clipEpsilon}`;
  if (dualClip !== undefined && dualClip <= 1 + clipEpsilonHigh) {
    return `dualClip must be above 1 + clipEpsilonHigh (${1 + clipEpsilonHigh}), got ${dualClip}`;
  }
  if (config.klPlacement === 'loss' && config.klEstimator === 'k1' && klCoef > 0) {
    return 'klEstimator must be k2 or k3 if klPlacement is loss, because the expected gradient of k1 is 0, got k1';
  }
  if (config.centerRewards && !config.whitenRewards) {
    return 'centerRewards must be false unless whitenRewards is true, got true';
  }
  if (klController === 'adaptive' && klCoef === 0) {
    return 'klCoef must be above 0 if klController is adaptive, because β is adapted by a factor, got 0';
  }
  return undefined;
}
