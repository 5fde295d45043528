/** One action of the policy: the state that it saw, the token that it chose, and their numbers.
 *  Value, advantage and reward-to-go are those of an experience; in a bare rollout they are NaN. */
export interface SAPair {
  /** Prompt and the text before the action. */
  readonly stateText: string;
  /** Text that the action added: none for a stop token and before a character is complete. */
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
  /** Index of the prompt in the call that made the rollout. */
  readonly promptIdx: number;
  /** t: actions of the response before this one. */
  readonly step: number;
}
