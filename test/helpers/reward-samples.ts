import type { RewardSample } from '../../src/reward-kl/reward-source.ts';

/** A finished response of two tokens, but for what is given. */
export function rewardSample(given: Partial<RewardSample> = {}): RewardSample {
  return {
    prompt: 'a b',
    response: 'c d',
    promptTokens: Int32Array.of(2, 3),
    tokens: Int32Array.of(4, 5),
    finished: true,
    promptIdx: 0,
    sample: 0,
    ...given,
  };
}

/** Samples with these responses, one token for each letter. */
export function samplesOf(...responses: readonly string[]): RewardSample[] {
  return responses.map((response, promptIdx) =>
    rewardSample({ response, promptIdx, tokens: new Int32Array(response.length) }),
  );
}
