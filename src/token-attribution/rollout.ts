/** One generated response and where it came from. */
export interface RolloutSequence {
  /** Index of the prompt in the call that made the rollout. */
  readonly promptIdx: number;
  /** Which of the samples of that prompt. */
  readonly sample: number;
  readonly promptText: string;
  readonly promptTokens: Int32Array;
  /** The text that reward sources see: cut at the first stop. */
  readonly text: string;
  /** Text of each token; a stop token's is empty. */
  readonly pieces: readonly string[];
  /** Whether a stop token or string came, rather than the limit of length. */
  readonly finished: boolean;
}

/**
 * Responses with the numbers of each of their tokens, as columns: N tokens end to end, no padding.
 * Sequence i has the places from offsets[i] to offsets[i + 1].
 */
export interface Rollout {
  readonly sequences: readonly RolloutSequence[];
  /** [B + 1] */
  readonly offsets: Int32Array;
  /** The actions: ids as they were sampled, [N]. */
  readonly tokens: Int32Array;
  /** log π_old of the unfiltered policy at the temperature, [N]. */
  readonly logprobs: Float32Array;
  /** log π_ref, [N]. */
  readonly refLogprobs: Float32Array;
  /** KL_t, [N]. */
  readonly kl: Float32Array;
  /** Logprobs under what was drawn from, where that is not π_old: filtered, penalised or rounded to
   *  fewer bits, [N]. */
  readonly samplingLogprobs?: Float32Array;
  /** Entropy of π_old before each token, where its logprobs were computed again, [N]. */
  readonly entropies?: Float32Array;
}
