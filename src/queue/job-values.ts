import { z } from 'zod';
import type { GeneratedText } from '../generation/index.ts';
import type { TokenLogprobs } from '../token-attribution/token-attributor.ts';
import type { GradientJob, GradientResult, RolloutJob, ScoreJob } from '../training/index.ts';

/** What each kind of job takes and returns. */
export interface JobValues {
  rollOut: { input: RolloutJob; output: GeneratedText[] };
  policyLogprobs: { input: ScoreJob; output: TokenLogprobs };
  refLogprobs: { input: ScoreJob; output: TokenLogprobs };
  values: {
    input: ScoreJob & { readonly stateCounts: readonly number[] };
    output: Float32Array;
  };
  rewardScores: { input: { readonly sequences: readonly Int32Array[] }; output: Float32Array };
  gradients: { input: GradientJob; output: GradientResult };
}

export type JobKind = keyof JobValues;

const ints = z.instanceof(Int32Array);
const floats = z.instanceof(Float32Array);
const count = z.int().min(0);

const responsesShape = {
  sequences: z.array(
    z.strictObject({
      promptIdx: count,
      sample: count,
      promptTokens: ints,
      observations: z
        .array(z.strictObject({ at: count, tokens: ints, text: z.string() }))
        .optional(),
    }),
  ),
  offsets: ints,
  tokens: ints,
};

const scoreJobSchema = z.strictObject({
  microBatch: count,
  responses: z.strictObject(responsesShape),
});

const generationSchema = z.strictObject({
  maxNewTokens: count.optional(),
  numReturnSequences: count.optional(),
  temperature: z.number().optional(),
  topK: z.number().optional(),
  topP: z.number().optional(),
  minP: z.number().optional(),
  repetitionPenalty: z.number().optional(),
  stopStrings: z.array(z.string()).optional(),
  stopTokenIds: z.array(count).optional(),
  seed: z.number().optional(),
  streamKey: z.array(z.union([z.string(), z.number()])).optional(),
  firstPrompt: count.optional(),
  topLogprobs: count.optional(),
  topLogprobsTexts: count.optional(),
});

/** Columns of experience. Texts do not travel: gradients need none. */
const experienceSchema = z.strictObject({
  ...responsesShape,
  logprobs: floats,
  refLogprobs: floats,
  kl: floats,
  samplingLogprobs: floats.optional(),
  entropies: floats.optional(),
  stepOffsets: ints,
  scores: floats,
  rewards: floats,
  values: floats,
  advantages: floats,
  returns: floats,
});

/** Checks the input of a job before it is used: it comes from a queue that others can write to. */
export const inputSchemas: Readonly<Record<JobKind, z.ZodType>> = {
  rollOut: z.strictObject({ prompts: z.array(ints), generation: generationSchema }),
  policyLogprobs: scoreJobSchema,
  refLogprobs: scoreJobSchema,
  values: scoreJobSchema.extend({ stateCounts: z.array(count) }),
  rewardScores: z.strictObject({ sequences: z.array(ints) }),
  gradients: z.strictObject({
    microBatch: count,
    experience: experienceSchema,
    counts: z.strictObject({ sequenceCount: count, tokenCount: count, stepCount: count }),
    klCoef: z.number(),
  }),
};

const logprobsSchema = z.object({ logprobs: floats, entropies: floats });
const gradientsSchema = z.object({
  gradients: z.record(z.string(), floats),
  sums: z.record(z.string(), z.unknown()),
});

/** Checks the output of a job before the trainer uses it. */
export const outputSchemas: Readonly<Record<JobKind, z.ZodType>> = {
  rollOut: z.array(
    z.object({
      prompt: count,
      sample: count,
      promptTokens: ints,
      tokens: ints,
      pieces: z.array(z.string()),
      text: z.string(),
      logprobs: floats,
      samplingLogprobs: floats,
      entropies: floats.optional(),
      alternatives: z.array(z.unknown()).optional(),
      finishReason: z.enum(['stop', 'length']),
    }),
  ),
  policyLogprobs: logprobsSchema,
  refLogprobs: logprobsSchema,
  values: floats,
  rewardScores: floats,
  gradients: z.object({
    policy: gradientsSchema.extend({ ratios: floats }),
    value: gradientsSchema.optional(),
  }),
};
