import type { Rollout } from '../token-attribution/rollout.ts';

/**
 * A rollout with all that training needs. Rewards, values and returns stand on steps: a sequence
 * has one for each token, and one more after its end where rewards are placed `after-final`.
 */
export interface Experience extends Rollout {
  /** Sequence i has the steps from stepOffsets[i] to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
  /** What the reward sources gave, weighted and added up, [B]. */
  readonly scores: Float32Array;
  /** r_t, [S] */
  readonly rewards: Float32Array;
  /** V_old of the state before each token, and after the last one where there is such a step, [S]. */
  readonly values: Float32Array;
  /** A_t, whitened if the config says so, [N]. */
  readonly advantages: Float32Array;
  /** G_t = A_t + V_t from advantages that are not whitened, [S]. */
  readonly returns: Float32Array;
}
