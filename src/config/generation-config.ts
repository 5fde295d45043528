import { z } from 'zod';

/** How texts are generated, with Hugging Face's names. */
export const generationConfigSchema = z.strictObject({
  maxNewTokens: z.int().min(1).default(50).describe('Most new tokens per text'),
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Divides the logits; 0 always picks the most likely token'),
  topK: z.int().min(1).optional().describe('Sample only from the k most likely tokens'),
  topP: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Sample only from the smallest set of tokens with at least this total probability'),
  minP: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .describe('Sample only from tokens with at least this fraction of the highest probability'),
  repetitionPenalty: z
    .number()
    .positive()
    .default(1)
    .describe('Values above 1 make tokens that already occurred less likely'),
  stop: z
    .array(z.string().min(1))
    .default([])
    .describe('End a text before this string; repeatable'),
  numReturnSequences: z.int().min(1).default(1).describe('Texts per prompt'),
  seed: z.int().default(0).describe('Random seed; the same seed repeats the same texts'),
  precision: z
    .enum(['f32', 'f32-feeds', 'int8', 'int8-packed'])
    .default('f32')
    .describe(
      'Precision of the weights while generating: f32 is fast, f32-feeds shares the base weights instead of copying them, int8 is small but inexact, int8-packed is faster than int8 if the base is int8 but copies its weights',
    ),
});
