/** Two whole texts, prompt and response, of which one is better. */
export interface PreferenceTexts {
  readonly chosen: Int32Array;
  readonly rejected: Int32Array;
  /** How much better the chosen one is meant to be; 0 if not given. */
  readonly margin?: number | undefined;
  /** Probability that the chosen one wins: 1 if not given, ½ for a tie. */
  readonly target?: number | undefined;
  /** What the pair counts; 1 if not given. */
  readonly weight?: number | undefined;
}

/** A whole text and its rating in 0 … 1. */
export interface RatedText {
  readonly text: Int32Array;
  readonly rating: number;
}

/** All pairs, or all ratings. */
export type RewardTexts = readonly PreferenceTexts[] | readonly RatedText[];
