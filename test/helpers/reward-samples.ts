import type { RewardSample } from '../../src/reward-kl/reward-source.ts';

/** A finished response of two tokens with the given changes. */
export function rewardSample(changes: Partial<RewardSample> = {}): RewardSample {
  return {
    prompt: 'a b',
    response: 'c d',
    promptTokens: Int32Array.of(2, 3),
    tokens: Int32Array.of(4, 5),
    finished: true,
    promptIdx: 0,
    sample: 0,
    ...changes,
  };
}

/** Samples with these responses, one token per letter. */
export function samplesOf(...responses: readonly string[]): RewardSample[] {
  return responses.map((response, promptIdx) =>
    rewardSample({ response, promptIdx, tokens: new Int32Array(response.length) }),
  );
}
