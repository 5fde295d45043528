import type { StreamKey } from '../engine/random/index.ts';
import type { SamplingOptions } from './sampler/sampling-options.ts';

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
  readonly signal?: AbortSignal;
}

/** Refuses options that make no sense; fills in the defaults. */
export function resolveGenerationOptions(options: GenerationOptions) {
  const { maxNewTokens = 50, numReturnSequences = 1, stopStrings = [] } = options;
  expectCount(maxNewTokens, 'maxNewTokens');
  expectCount(numReturnSequences, 'numReturnSequences');
  if (stopStrings.includes('')) {
    throw new RangeError('Cannot generate: stopStrings must not be empty texts, got ""');
  }
  const { seed = 0, streamKey = [] } = options;
  return { ...options, maxNewTokens, numReturnSequences, stopStrings, seed, streamKey };
}

function expectCount(value: number, name: string): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`Cannot generate: ${name} must be a whole number ≥ 1, got ${value}`);
  }
}
