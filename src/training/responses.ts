import { concatInts, offsetsOf } from '../columns/index.ts';
import type { Rollout, RolloutSequence } from '../token-attribution/rollout.ts';

/** What a pass must know of responses: where they come from, and their tokens as columns. */
export interface Responses extends Pick<Rollout, 'offsets' | 'tokens'> {
  readonly sequences: readonly Pick<RolloutSequence, 'promptIdx' | 'sample' | 'promptTokens'>[];
}

/** Some of the responses, in the order given. */
export function selectResponses(
  { sequences, offsets, tokens }: Responses,
  indices: readonly number[],
): Responses {
  const parts = indices.map((i) => tokens.subarray(offsets[i]!, offsets[i + 1]!));
  return {
    sequences: indices.map((i) => sequences[i]!),
    offsets: offsetsOf(parts.map(({ length }) => length)),
    tokens: concatInts(parts),
  };
}

/** Responses whose prompts come one after another; samples of one prompt have the same array. */
export function responsesOf(
  prompts: readonly Int32Array[],
  responses: readonly Int32Array[],
): Responses {
  let [promptIdx, sample] = [-1, 0];
  const sequences = prompts.map((promptTokens, i) => {
    const isSame = promptTokens === prompts[i - 1];
    promptIdx += isSame ? 0 : 1;
    sample = isSame ? sample + 1 : 0;
    return { promptIdx, sample, promptTokens };
  });
  const offsets = offsetsOf(responses.map(({ length }) => length));
  return { sequences, offsets, tokens: concatInts(responses) };
}
