import type { SaveList } from '../engine/graph/index.ts';
import type { StreamKey } from '../engine/random/index.ts';
import type { RowPass } from '../models/decoder/forward.ts';
import type { SamplingOptions } from './sampler/sampling-options.ts';
import type { GeneratedText } from './sequence.ts';

/** How texts are generated, under Hugging Face's names. */
export interface GenerationOptions extends SamplingOptions {
  /** 50 by default. */
  readonly maxNewTokens?: number;
  /** Samples for each prompt, which share its prefill; 1 by default. */
  readonly numReturnSequences?: number;
  /** Tokens that end a text and belong to it; the tokenizer's by default. */
  readonly stopTokenIds?: readonly number[];
  /** Texts that end a text and are cut off it. */
  readonly stopStrings?: readonly string[];
  /** The same seed gives the same text, whatever the batch; 0 by default. */
  readonly seed?: number;
  /** Stands before prompt and sample in the key of a random stream, such as the training step. */
  readonly streamKey?: readonly StreamKey[];
  /** Gives each token its entropy and so many of the likeliest tokens, both of the unfiltered policy
   *  at the temperature; left out, neither. */
  readonly topLogprobs?: number;
  /** How many texts get them, the first in the order of prompts and samples; all by default. */
  readonly topLogprobsTexts?: number;
  /** Number of the first prompt in random streams and results; 0 by default. */
  readonly firstPrompt?: number;
  /** Keeps the passes over the prompts, for an update that reuses them. */
  readonly promptPasses?: PromptPasses | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each finished text. */
  readonly onText?: ((text: GeneratedText) => void) | undefined;
}

/** Passes over prompts, by the number of the prompt. */
export interface PromptPasses {
  /** What each pass saves for training. */
  readonly save: SaveList;
  readonly passes: Map<number, RowPass>;
}

/** Refuses options that make no sense; fills in the defaults. */
export function resolveGenerationOptions(options: GenerationOptions) {
  const { maxNewTokens = 50, numReturnSequences = 1, stopStrings = [] } = options;
  expectCount(maxNewTokens, 'maxNewTokens');
  expectCount(numReturnSequences, 'numReturnSequences');
  const { topLogprobs, topLogprobsTexts = Infinity } = options;
  expectCount(topLogprobs ?? 0, 'topLogprobs', { least: 0 });
  if (topLogprobsTexts !== Infinity) {
    expectCount(topLogprobsTexts, 'topLogprobsTexts', { least: 0 });
  }
  if (stopStrings.includes('')) {
    throw new RangeError('Cannot generate: stopStrings must not be empty texts, got ""');
  }
  const { seed = 0, streamKey = [] } = options;
  const counts = { maxNewTokens, numReturnSequences, topLogprobsTexts };
  return { ...options, ...counts, stopStrings, seed, streamKey };
}

function expectCount(value: number, name: string, { least = 1 } = {}): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(
      `Cannot generate: ${name} must be a whole number ≥ ${least}, got ${value}`,
    );
  }
}
