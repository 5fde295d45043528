import { z } from 'zod';
import { generationConfigSchema } from './generation-config.ts';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);
const rate = z.number().positive();

const { maxNewTokens, temperature, topK, topP, minP } = generationConfigSchema.shape;

/** Every hyper-parameter of PPO: the documents' names and defaults, and what makes them work. */
export const ppoConfigShape = {
  modelName: z
    .string()
    .min(1)
    .default('Qwen/Qwen3-0.6B-Base')
    .describe('Base model: a folder, or an id on the Hugging Face hub'),
  revision: z.string().min(1).optional().describe('Branch, tag or commit on the hub'),
  adapter: z
    .string()
    .min(1)
    .optional()
    .describe('LoRA adapter that policy and reference start as, such as one of SFT'),
  seed: z.int().default(0).describe('The same seed gives the same run'),
  maxNewTokens,
  temperature: temperature
    .unwrap()
    .positive()
    .default(1)
    .describe('Divides the logits, in rollout, reference and update alike'),
  topK,
  topP,
  minP,
  stop: generationConfigSchema.shape.stop,
  samplesPerPrompt: count.default(1).describe('Responses to each prompt in a step'),
  rolloutPrecision: generationConfigSchema.shape.precision,
  rolloutBatchSize: count
    .optional()
    .describe(
      'Responses that are generated at once; if not given 32, or as many as fit 1 GiB of keys and values',
    ),

  batchSize: count.default(4).describe('Prompts in a step'),
  ppoEpochs: count.default(4).describe('Passes over the responses of a step'),
  miniBatchSize: count
    .optional()
    .describe('Responses of one optimiser step; all of a step if not given'),
  bufferCapacity: count
    .optional()
    .describe(
      'Most responses in the experience buffer: if more than one step produces, the update also trains on the newest responses of earlier steps; default: the responses of one step',
    ),
  bufferSampling: z
    .enum(['shuffled', 'sequential', 'by-length', 'uniform'])
    .default('shuffled')
    .describe(
      'How a PPO epoch forms minibatches: each response once in random order, in stored order or grouped by length, or sampled with replacement (uniform)',
    ),
  microBatchSize: count
    .optional()
    .describe('Responses that run together; as many as fit maxTokensAtOnce if not given'),
  maxTokensAtOnce: count
    .default(1024)
    .describe('Tokens that run together in the update, at least one response'),
  keepPasses: z
    .boolean()
    .optional()
    .describe(
      'Whether the first optimiser step takes over the passes that gave values and logprobs; if not given where all responses run together',
    ),
  learningRate: rate.default(1e-5).describe('Learning rate of the policy'),
  valueLearningRate: rate.default(1e-4).describe('Learning rate of the value model'),
  schedule: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('How the learning rates fall over the run'),
  warmupSteps: z.int().min(0).default(0).describe('Optimiser steps in which they rise from 0'),
  adamEps: rate.default(1e-5).describe("Added to AdamW's root of the second moment"),
  weightDecay: z.number().min(0).default(0).describe('Weight decay of the adapters'),
  maxGradNorm: rate.default(1).describe('Longest gradient, as one vector for each model'),
  saveActivations: z
    .enum(['none', 'matmul', 'all'])
    .default('matmul')
    .describe('What the forward pass keeps for the backward pass: less memory or less work'),

  klCoef: z.number().min(0).default(0.1).describe('β: weight of the KL penalty'),
  klEstimator: z
    .enum(['k1', 'k2', 'k3'])
    .default('k1')
    .describe('With d = log π − log π_ref: d, ½d² or e^(−d) − 1 + d'),
  klPlacement: z
    .enum(['reward', 'loss'])
    .default('reward')
    .describe('Where the penalty stands: subtracted from rewards, or added to the loss'),
  klController: z
    .enum(['fixed', 'adaptive'])
    .default('fixed')
    .describe('Whether β follows klTarget'),
  klTarget: rate.default(6).describe('KL of a response that an adaptive β aims at'),
  klHorizon: rate.default(10_000).describe('Responses in which an adaptive β moves by its error'),

  rewardPlacement: z
    .enum(['final', 'every', 'after-final'])
    .default('final')
    .describe("Where a score stands: last token, every token, or TRL's step after the last"),
  missingEosPenalty: z
    .number()
    .min(0)
    .default(0)
    .describe('Subtracted from the score of a response that did not stop'),
  scoreNormalization: z
    .enum(['none', 'batch', 'running'])
    .default('none')
    .describe('Scores to mean 0 and deviation 1, over the step or over the run'),
  scoreClip: rate.optional().describe('Scores are cut to ± this'),
  whitenRewards: z.boolean().default(false).describe('Scale rewards to deviation 1'),

  advantageEstimator: z
    .enum(['gae', 'rloo', 'grpo', 'reinforce++'])
    .default('gae')
    .describe('How advantages follow from rewards; all but gae need no value model'),
  gamma: z.number().min(0).max(1).default(0.99).describe('γ: discount of later rewards'),
  lam: z.number().min(0).max(1).default(0.95).describe('λ of GAE'),
  whitenAdvantages: z
    .boolean()
    .default(true)
    .describe('Advantages to mean 0 and deviation 1, over the step'),
  whitening: z
    .enum(['biased', 'unbiased'])
    .default('biased')
    .describe('Whether variances divide by n or n − 1'),

  clipEpsilon: rate.default(0.2).describe('ε: how far the ratio may move'),
  clipEpsilonHigh: rate.optional().describe('ε above 1, if it differs from that below'),
  dualClip: z
    .number()
    .gt(1)
    .optional()
    .describe('Bound of the ratio where the advantage is negative'),
  ratioLevel: z
    .enum(['token', 'sequence'])
    .default('token')
    .describe('Whether each token has a ratio, or each response (GSPO)'),
  rolloutCorrection: z
    .number()
    .min(0)
    .default(2)
    .describe(
      'Cap of the weight π_old/π_drawn of tokens that were drawn otherwise (8 bits, filters); 0 none',
    ),
  entropyCoef: z.number().min(0).default(0).describe('Weight of the entropy bonus'),
  targetKl: rate.optional().describe('Ends the update of a step once approxKL passes this'),
  valueLoss: z
    .enum(['mse', 'clipped'])
    .default('mse')
    .describe("The documents' (v − G)², or ½ of the larger of it and its clipped form"),
  valueClip: rate.default(0.2).describe('How far a clipped value may move'),
  valueLossCoef: z.number().positive().default(0.5).describe('Weight of the value loss'),
  valueInit: z
    .enum(['zero', 'reward'])
    .default('zero')
    .describe('What the value model starts as: a head of zeros, or the reward model'),

  loraR: count.default(16).describe('Rank of the adapters'),
  loraAlpha: rate.default(32).describe('Adapters are scaled by this / rank'),
  loraDropout: z
    .number()
    .min(0)
    .lt(1)
    .default(0.1)
    .describe(
      'Dropout of adapters in SFT and reward training; PPO has none, so that ratios start at 1',
    ),
  loraTargets: z
    .array(z.string().min(1))
    .default(['q_proj', 'k_proj', 'v_proj', 'o_proj', 'c_attn', 'attn.c_proj'])
    .describe('Modules with an adapter, by the last parts of their names; all-linear is all'),
};

export const ppoConfigSchema = z.strictObject(ppoConfigShape).superRefine((config, context) => {
  const message = findPpoContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** What a user may give: everything has a default. */
export type PPOConfigOptions = z.input<typeof ppoConfigSchema>;

/** Hyper-parameters of PPO with every default filled in; a valid config itself. */
export type PPOConfig = Readonly<z.output<typeof ppoConfigSchema>>;

/** Checks hyper-parameters and fills in the defaults.
 *  @example { batchSize: 8 }  →  the documents' γ 0.99, λ 0.95, ε 0.2, β 0.1, and batches of 8 */
export function resolvePPOConfig(options: PPOConfigOptions = {}): PPOConfig {
  return parseConfig(ppoConfigSchema, options, { name: 'the PPO config' });
}

/** The first pair of values that cannot go together. */
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
  return findEstimatorContradiction(config) ?? findRangeContradiction(config);
}

function findEstimatorContradiction(config: PPOConfig): string | undefined {
  const { advantageEstimator: estimator, samplesPerPrompt, rewardPlacement } = config;
  if ((estimator === 'rloo' || estimator === 'grpo') && samplesPerPrompt < 2) {
    return `samplesPerPrompt must be at least 2 for ${estimator}, which compares responses to one prompt, got ${samplesPerPrompt}`;
  }
  if (estimator !== 'gae' && rewardPlacement === 'after-final') {
    return `rewardPlacement must be final or every for ${estimator}, which has no value after the end, got after-final`;
  }
  return undefined;
}

function findRangeContradiction(config: PPOConfig): string | undefined {
  const { clipEpsilon, clipEpsilonHigh = clipEpsilon, dualClip, klController, klCoef } = config;
  if (clipEpsilon >= 1) return `clipEpsilon must be < 1, as ratios are above 0, got ${clipEpsilon}`;
  if (dualClip !== undefined && dualClip <= 1 + clipEpsilonHigh) {
    return `dualClip must be above the clipped ratio's end (${1 + clipEpsilonHigh}), got ${dualClip}`;
  }
  if (config.klPlacement === 'loss' && config.klEstimator === 'k1' && klCoef > 0) {
    return 'klEstimator must be k2 or k3 where klPlacement is loss, as the gradient of k1 is 0 on average, got k1';
  }
  if (klController === 'adaptive' && klCoef === 0) {
    return 'klCoef must be above 0 where klController is adaptive, as β is multiplied, got 0';
  }
  return undefined;
}
