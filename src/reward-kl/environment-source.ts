import type { RewardSample, RewardScore, RewardSource } from './reward-source.ts';

/** The rewards that the environment gave to the turns of an episode, each on the last token of its turn. */
export class EnvironmentSource implements RewardSource {
  readonly name = 'environment';

  /** One score per token.
   *  @example turns of 2 and 3 tokens with rewards 1 and ½  →  [0, 1, 0, 0, ½] */
  async score(samples: readonly RewardSample[]): Promise<readonly RewardScore[]> {
    return samples.map(({ tokens, episode }) => {
      const scores = new Float32Array(tokens.length);
      for (const { end, reward = 0 } of episode?.turns ?? []) {
        scores[end - 1] = scores[end - 1]! + reward;
      }
      return scores;
    });
  }
}
