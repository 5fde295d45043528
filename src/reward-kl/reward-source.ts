/** A response to be scored. */
export interface RewardSample {
  readonly prompt: string;
  /** Cut at the first stop. */
  readonly response: string;
  readonly promptTokens: Int32Array;
  /** Ids of the response, its stop token included. */
  readonly tokens: Int32Array;
  /** Whether it stopped by itself, rather than at the limit of length. */
  readonly finished: boolean;
  readonly promptIdx: number;
  /** Which of the samples of that prompt. */
  readonly sample: number;
  /** The data set's other columns. */
  readonly row?: Readonly<Record<string, unknown>> | undefined;
}

/** A number for the whole response, or one for each of its tokens. */
export type Score = number | ArrayLike<number>;

/** A score for one response, at once or later. The signal fires when the score is no longer awaited. */
export type RewardFunction = (
  sample: RewardSample,
  context: { readonly signal: AbortSignal },
) => Score | Promise<Score>;

export interface ScoreContext {
  /** Fires when the scores are no longer awaited. */
  readonly signal: AbortSignal;
  /** To be told, if the source can, of each sample that is done: it is then not taken for hung. */
  readonly onScored?: ((index: number) => void) | undefined;
}

/** Whatever gives scores: a function, a model, a server, people. */
export interface RewardSource {
  /** Stands in the names of metrics and in errors. */
  readonly name: string;
  /** Milliseconds without a new score after which it counts as hung; Infinity if it takes care of
   *  that itself, the reward computer's `rewardTimeout` if not given. */
  readonly timeout?: number | undefined;
  /** One score for each sample, in order. */
  score(samples: readonly RewardSample[], context: ScoreContext): Promise<readonly Score[]>;
}

/** A source and what its scores are multiplied by. */
export interface WeightedSource {
  readonly source: RewardSource;
  readonly weight: number;
}
