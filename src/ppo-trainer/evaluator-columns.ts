import { concatFloats, offsetsOf } from '../columns/index.ts';
import type { GeneratedText } from '../generation/index.ts';
import type { SFTModel } from '../models/sft-model.ts';
import type { ValueModel } from '../models/value-model.ts';
import type { ProgressCounter } from './evaluator-progress.ts';

/** Numbers of each token of evaluated responses: N tokens end to end. */
export interface TokenColumns {
  /** [B + 1] */
  readonly offsets: Int32Array;
  /** d_t = log π − log π_ref at the temperature, [N]. */
  readonly logratios: Float32Array;
  /** Entropy of π before each token, [N]. */
  readonly entropies: Float32Array;
  /** V of the state before each token, [N]; none without a value model. */
  readonly values: Float32Array | undefined;
}

interface MeasureOptions {
  readonly policy: SFTModel;
  readonly reference: SFTModel;
  readonly value: ValueModel | undefined;
  readonly temperature: number;
  readonly progress: ProgressCounter;
}

/** Responses between two looks at the signal. */
const RESPONSES_AT_ONCE = 16;

/** Runs the models over finished responses. Logprobs come from a pass of their own: those of greedy
 *  texts are at temperature 1, and a decoder of 8 bits is not quite the policy. */
export async function measureTokens(
  texts: readonly GeneratedText[],
  { policy, reference, value, temperature, progress }: MeasureOptions,
): Promise<TokenColumns> {
  const logratios: Float32Array[] = [];
  const entropies: Float32Array[] = [];
  const values: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += RESPONSES_AT_ONCE) {
    const group = texts.slice(start, start + RESPONSES_AT_ONCE);
    const prompts = group.map(({ promptTokens }) => promptTokens);
    const responses = group.map(({ tokens }) => tokens);
    const now = await policy.logprobs(prompts, responses, { temperature });
    const ref = await reference.logprobs(prompts, responses, { temperature });
    logratios.push(...now.logprobs.map((column, i) => difference(column, ref.logprobs[i]!)));
    entropies.push(...now.entropies);
    if (value !== undefined) values.push(...(await value.values(prompts, responses)));
    progress.advance(group.length);
  }
  return {
    offsets: offsetsOf(texts.map(({ tokens }) => tokens.length)),
    logratios: concatFloats(logratios),
    entropies: concatFloats(entropies),
    values: value && concatFloats(values),
  };
}

/** The sum over each response's tokens.
 *  @example offsets=[0, 2, 3], column=[1, 2, 5]  →  [3, 5] */
export function sumEach(column: Float32Array, offsets: Int32Array): number[] {
  return Array.from(offsets.subarray(1), (end, i) =>
    column.subarray(offsets[i]!, end).reduce((sum, x) => sum + x, 0),
  );
}

function difference(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((x, t) => x - b[t]!);
}
