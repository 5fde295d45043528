import { concatInts, lengthsOf, offsetsOf } from '../columns/index.ts';
import { insertObservations, type Observation, statePositions } from '../generation/observation.ts';
import { PackedBatch } from './decoder/packed-batch.ts';
import { promptsFirst } from './decoder/row-layout.ts';

/** The tokens around the sampled ones: the prompt, which samples of one prompt share as one array, and
 *  what the environment inserted. */
export interface ResponseContext {
  readonly promptTokens: Int32Array;
  readonly observations?: readonly Observation[] | undefined;
}

/** Responses to prompts: their sampled tokens as columns, without padding. */
export interface Responses<Sequence extends ResponseContext = ResponseContext> {
  readonly sequences: readonly Sequence[];
  /** Response i has the tokens from offsets[i] up to offsets[i + 1], [B + 1]. */
  readonly offsets: Int32Array;
  readonly tokens: Int32Array;
}

/** Responses as columns.
 *  @param prompts `prompts[i]` is the prompt of `responses[i]` */
export function toResponses(
  prompts: readonly ArrayLike<number>[],
  responses: readonly ArrayLike<number>[],
  {
    observations = [],
  }: { readonly observations?: readonly ResponseContext['observations'][] } = {},
): Responses {
  return {
    sequences: prompts.map((prompt, i) => ({
      promptTokens: prompt instanceof Int32Array ? prompt : Int32Array.from(prompt),
      ...(observations[i] && { observations: observations[i] }),
    })),
    offsets: offsetsOf(responses.map(({ length }) => length)),
    tokens: concatInts(responses.map((response) => Int32Array.from(response))),
  };
}

/** Selects responses, in the order of `indices`. */
export function selectResponses<Sequence extends ResponseContext>(
  { sequences, offsets, tokens }: Responses<Sequence>,
  indices: readonly number[],
): Responses<Sequence> {
  const parts = indices.map((i) => tokens.subarray(offsets[i]!, offsets[i + 1]!));
  return {
    sequences: indices.map((i) => sequences[i]!),
    offsets: offsetsOf(parts.map(({ length }) => length)),
    tokens: concatInts(parts),
  };
}

/** Prompts and responses as one batch. The rows of each prompt come first, once for all its
 *  samples, then the rows of all responses.
 *  @example prompts of 2 and 1 tokens, two responses of 1 to the first, one of 2 to the second  →
 *  [0, 1, 3], [0, 1, 4], [2, 5, 6] */
export function packResponses(responses: Responses): PackedBatch {
  const whole = wholeSequences(responses);
  const layout = promptsFirst(
    responses.sequences.map(({ promptTokens: prompt }, i) => ({
      prompt,
      own: whole[i]!.length - prompt.length,
    })),
  );
  return new PackedBatch(whole, { layout });
}

/** The prompts of some responses, each once, in the order of their rows in the packed batch. */
export function distinctPrompts({ sequences }: Pick<Responses, 'sequences'>): Int32Array[] {
  return [...new Set(sequences.map(({ promptTokens }) => promptTokens))];
}

/**
 * The rows of a packed batch that hold the states of each response: the state before sampled token
 * t is in the row of the token before it, sampled or observed.
 * @param counts number of states per response, counted from the first token: by default one per
 * token; one more is the state after the last token
 * @example prompts of 3 and 2 tokens, responses of 2 and 1  →  [2, 3, 6]
 */
export function stateRows(
  batch: Pick<PackedBatch, 'rows'>,
  { sequences, offsets }: Pick<Responses, 'sequences' | 'offsets'>,
  counts: readonly number[] = lengthsOf(offsets),
): Int32Array {
  return concatInts(
    sequences.map(({ promptTokens: { length }, observations }, i) =>
      statePositions(counts[i]!, observations).map((at) => batch.rows[i]![length - 1 + at]!),
    ),
  );
}

/** The prompt, sampled and observed tokens of each sequence. */
function wholeSequences({ sequences, offsets, tokens }: Responses): Int32Array[] {
  return sequences.map(({ promptTokens, observations }, i) => {
    const sampled = tokens.subarray(offsets[i]!, offsets[i + 1]!);
    return concatInts([promptTokens, insertObservations(sampled, observations)]);
  });
}
