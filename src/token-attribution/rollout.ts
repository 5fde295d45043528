import type { Observation } from '../generation/observation.ts';

/** One generated response and its origin. */
export interface RolloutSequence {
  /** Index of the prompt in the call that generated the rollout. */
  readonly promptIdx: number;
  /** Index of the response among those to the same prompt. */
  readonly sample: number;
  readonly promptText: string;
  readonly promptTokens: Int32Array;
  /** The text that reward sources see: truncated at the first stop. */
  readonly text: string;
  /** Text of each sampled token; empty for a stop token. */
  readonly pieces: readonly string[];
  /** What the environment inserted, if there is one: tokens of the state that are not actions. */
  readonly observations?: readonly Observation[] | undefined;
  /** Whether a stop token or stop string ended it, rather than the length limit. */
  readonly finished: boolean;
}

/**
 * Responses with their per-token numbers as columns: N sampled tokens end to end, without padding. Sequence i
 * has the elements from offsets[i] up to offsets[i + 1].
 */
export interface Rollout {
  readonly sequences: readonly RolloutSequence[];
  /** [B + 1] */
  readonly offsets: Int32Array;
  /** The actions: sampled token ids, [N]. */
  readonly tokens: Int32Array;
  /** log π_old of the unfiltered policy at the temperature, [N]. */
  readonly logprobs: Float32Array;
  /** log π_ref, [N]. */
  readonly refLogprobs: Float32Array;
  /** KL_t, [N]. */
  readonly kl: Float32Array;
  /** Logprobs under the distribution sampled from, if that is not π_old: filtered, penalised or of
   *  quantized weights, [N]. */
  readonly samplingLogprobs?: Float32Array;
  /** Entropy of π_old before each token, if its logprobs were recomputed, [N]. */
  readonly entropies?: Float32Array;
}

/** One action of the policy: the state, the chosen token, and their numbers. Value, advantage and
 *  reward-to-go are NaN for a rollout that is not an experience. */
export interface SAPair {
  /** The prompt and the text before the action. */
  readonly stateText: string;
  /** The text that the action adds; empty for a stop token or an incomplete character. */
  readonly actionToken: string;
  readonly actionTokenId: number;
  /** log π_old */
  readonly logprob: number;
  /** log π_ref */
  readonly refLogprob: number;
  /** KL_t */
  readonly klDiv: number;
  /** V_t */
  readonly value: number;
  /** A_t */
  readonly advantage: number;
  /** G_t */
  readonly rewardToGo: number;
  /** Index of the prompt in the call that generated the rollout. */
  readonly promptIdx: number;
  /** t: number of earlier actions of the response. */
  readonly step: number;
}
