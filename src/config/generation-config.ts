import { z } from 'zod';

/** How texts are generated, under Hugging Face's names. */
export const generationConfigSchema = z.strictObject({
  maxNewTokens: z.int().min(1).default(50).describe('Longest text, in new tokens'),
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Divides the logits; 0 always takes the most probable token'),
  topK: z.int().min(1).optional().describe('Draw only from the k most probable tokens'),
  topP: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Draw only from the fewest tokens that together have this probability'),
  minP: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .describe('Draw only from tokens at least this many times as probable as the best'),
  repetitionPenalty: z
    .number()
    .positive()
    .default(1)
    .describe('Above 1, makes tokens less probable that were seen before'),
  stop: z
    .array(z.string().min(1))
    .default([])
    .describe('End a text where this comes up, which is left out; may be given again'),
  numReturnSequences: z.int().min(1).default(1).describe('Texts for each prompt'),
  seed: z.int().default(0).describe('The same seed gives the same texts'),
  precision: z
    .enum(['f32', 'f32-feeds', 'int8'])
    .default('f32')
    .describe(
      'Weights while generating: f32 is fast, f32-feeds needs no second copy, int8 is small but inexact',
    ),
});
