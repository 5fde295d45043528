import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { randomStream } from '../engine/random/index.ts';
import { type GenerationOptions, resolveGenerationOptions } from './generation-options.ts';
import { Sequence } from './sequence.ts';

/** A prompt as text, or as token ids that are used unchanged. */
export type Prompt = string | ArrayLike<number>;

/** The model whose texts are generated. */
export interface SequenceModel {
  readonly tokenizer: Tokenizer;
  /** Most tokens of a prompt with its response. */
  readonly context: number;
}

/** Creates one empty text per sample of each prompt, in order. */
export function createSequences(
  prompts: readonly Prompt[],
  options: GenerationOptions,
  { tokenizer, context }: SequenceModel,
): Sequence[] {
  const { seed, streamKey, stopStrings, maxNewTokens, numReturnSequences, ...rest } =
    resolveGenerationOptions(options);
  const stopTokens = new Set<number>(options.stopTokenIds ?? tokenizer.eosIds);
  const { firstPrompt = 0 } = options;
  return prompts.flatMap((text, place) => {
    const prompt = firstPrompt + place;
    const promptTokens = typeof text === 'string' ? tokenizer.encode(text) : Int32Array.from(text);
    checkPromptLength(promptTokens.length, { prompt, context });
    const maxTokens = Math.min(maxNewTokens, context - promptTokens.length);
    return Array.from({ length: numReturnSequences }, (_, sample) => {
      const random = randomStream(seed, 'generation', ...streamKey, prompt, sample);
      const rules = { stopTokens, stopStrings, maxTokens, context };
      const recordsTop = prompt * numReturnSequences + sample < rest.topLogprobsTexts;
      const topLogprobs = recordsTop ? rest.topLogprobs : undefined;
      const parts = { prompt, sample, promptTokens, random, tokenizer, rules, topLogprobs };
      return new Sequence({ ...parts, isEpisode: options.environment !== undefined });
    });
  });
}

function checkPromptLength(
  length: number,
  { prompt, context }: { prompt: number; context: number },
): void {
  if (length === 0) {
    throw new RangeError(
      `Cannot generate: prompt ${prompt} must have at least one token, got none`,
    );
  }
  if (length >= context) {
    throw new RangeError(
      `Cannot generate: prompt ${prompt} must be shorter than the model's context of ${context} tokens, got ${length}; shorten it or choose a model with a longer context`,
    );
  }
}
