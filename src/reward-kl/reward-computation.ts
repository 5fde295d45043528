import type { Rollout } from '../token-attribution/rollout.ts';
import type { KlControllerState } from './kl-controller.ts';
import type { PlacedRewards } from './place-rewards.ts';
import type { RewardSample } from './reward-source.ts';
import type { ScoreMoments } from './score-normalizer.ts';

/** Scores of samples of N tokens in all. */
export interface TokenAndTextScores {
  /** Weighted and added up; scores of tokens count with their sum, [B]. */
  readonly scores: Float32Array;
  /** Weighted and added up by token, if any source scores tokens, [N]. */
  readonly tokenScores?: Float32Array | undefined;
}

/** What reward sources gave. */
export interface ScoredSamples extends TokenAndTextScores {
  /** What each source gave, without its weight, [B]. */
  readonly bySource: ReadonlyMap<string, Float32Array>;
}

/** Scores as rewards hold them. */
export interface ShapedScores {
  /** With the penalty of a missing stop, [B]. */
  readonly penalised: Float32Array;
  /** The same normalised and cut, [B]. */
  readonly normalized: Float32Array;
  /** The part of it that no token has, [B]. */
  readonly scores: Float32Array;
  /** Scaled as the rest, [N]. */
  readonly tokenScores: Float32Array | undefined;
}

export interface ComputedRewards extends PlacedRewards {
  /** As the sources gave them, weighted and added up, [B]. */
  readonly scores: Float32Array;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface ComputeRewardsOptions {
  /** The rollout's responses as reward sources see them, in its order. */
  readonly samples: readonly RewardSample[];
  readonly signal?: AbortSignal | undefined;
}

/** What a checkpoint keeps; JSON. */
export interface RewardComputerState {
  /** β of the latest rewards. */
  readonly klCoef: number;
  readonly klController: KlControllerState;
  readonly scoreNormalizer: ScoreMoments;
}

/** All that a trainer asks of rewards. */
export interface RewardComputation {
  /** β of the latest rewards, and so of a loss that holds the KL penalty in their place. */
  readonly klCoef: number;
  /** Scores alone, such as for an evaluation: no state changes. */
  score(
    samples: readonly RewardSample[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ScoredSamples>;
  /** Scores as rewards hold them: penalised, normalised, cut; no state changes. */
  shapeScores(scored: TokenAndTextScores, samples: readonly RewardSample[]): ShapedScores;
  /** The rewards of a step's rollout; moves the run's moments of scores and an adaptive β. */
  computeRewards(
    rollout: Pick<Rollout, 'kl' | 'offsets'>,
    options: ComputeRewardsOptions,
  ): Promise<ComputedRewards>;
  /** JSON for a checkpoint. */
  state(): unknown;
  restore(state: unknown): void;
}
