import type { SaveList } from '../engine/graph/index.ts';
import type { StreamKey } from '../engine/random/index.ts';
import type { RowPass } from '../models/decoder/pass.ts';
import type { Trunk } from '../models/decoder/trunk.ts';
import type { SamplingOptions } from './sampler/sampler.ts';
import type { GeneratedText } from './sequence.ts';

/** Options of text generation, under Hugging Face's names. */
export interface GenerationOptions extends SamplingOptions {
  /** 50 by default. */
  readonly maxNewTokens?: number;
  /** Samples per prompt, which share its prefill; 1 by default. */
  readonly numReturnSequences?: number;
  /** Tokens that end a text and are part of it; the tokenizer's by default. */
  readonly stopTokenIds?: readonly number[];
  /** Strings that end a text and are removed from it. */
  readonly stopStrings?: readonly string[];
  /** The same seed generates the same text in any batch; 0 by default. */
  readonly seed?: number;
  /** Prefix of the random streams' keys, before prompt and sample, such as the training step. */
  readonly streamKey?: readonly StreamKey[];
  /** Records each token's entropy and this many of the most probable tokens, both of the unfiltered
   *  policy at the temperature; neither by default. */
  readonly topLogprobs?: number;
  /** Number of texts to record them for, in the order of prompts and samples; all by default. */
  readonly topLogprobsTexts?: number;
  /** Number of the first prompt in random streams and results; 0 by default. */
  readonly firstPrompt?: number;
  /** Keeps the passes over the prompts, for an update that reuses them. */
  readonly promptPasses?: PromptPasses | undefined;
  /** Receives the states of the prompts in the layers that other models share. */
  readonly trunk?: Trunk | undefined;
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

/** Validates options and fills in the defaults. */
export function resolveGenerationOptions(options: GenerationOptions) {
  const { maxNewTokens = 50, numReturnSequences = 1, stopStrings = [] } = options;
  expectCount(maxNewTokens, 'maxNewTokens');
  expectCount(numReturnSequences, 'numReturnSequences');
  const { topLogprobs, topLogprobsTexts = Infinity } = options;
  expectCount(topLogprobs ?? 0, 'topLogprobs', { min: 0 });
  if (topLogprobsTexts !== Infinity) {
    expectCount(topLogprobsTexts, 'topLogprobsTexts', { min: 0 });
  }
  if (stopStrings.includes('')) {
    throw new RangeError('Cannot generate: stopStrings must not be empty, got ""');
  }
  const { seed = 0, streamKey = [] } = options;
  const counts = { maxNewTokens, numReturnSequences, topLogprobsTexts };
  return { ...options, ...counts, stopStrings, seed, streamKey };
}

function expectCount(value: number, name: string, { min = 1 } = {}): void {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new RangeError(`Cannot generate: ${name} must be a whole number ≥ ${min}, got ${value}`);
  }
}
