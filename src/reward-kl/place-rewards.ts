import type { PPOConfig } from '../config/ppo-config.ts';

/** The inputs of rewards: B responses with N tokens end to end. */
export interface RewardParts {
  /** Score R per response, without its token scores, [B]. */
  readonly scores: Float32Array;
  /** Scores of single tokens, which stay on their tokens, [N]. */
  readonly tokenScores?: Float32Array | undefined;
  /** KL_t, [N]. */
  readonly kl: Float32Array;
  /** [B + 1] */
  readonly offsets: Int32Array;
}

/** Where the score and the KL penalty go, and the current β. */
export interface PlacementOptions
  extends Pick<PPOConfig, 'klPlacement' | 'rewardPlacement' | 'maxNewTokens'> {
  /** β of this step. */
  readonly klCoef: number;
}

/** Rewards per step of each sequence. */
export interface PlacedRewards {
  /** r_t, [S]. */
  readonly rewards: Float32Array;
  /** Sequence i has the steps from stepOffsets[i] up to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
}

/** Rewards per step.
 *  r_t = −β·KL_t (0 if the penalty is in the loss) + the token's own score, and
 *  `final`: + R on the last token;
 *  `every`: + R on every token, the specification's r'_t = R − β·KL_t;
 *  `after-final`: + R on an extra step after the last token, as in TRL; a response of maxNewTokens
 *  has no such step, and R is on its last token.
 *  @example R=1, KL=[1, 2], β=0.1, maxNewTokens=3
 *    final        →  [−0.1, 0.8]
 *    every        →  [ 0.9, 0.8]
 *    after-final  →  [−0.1, −0.2, 1] */
export function placeRewards(parts: RewardParts, options: PlacementOptions): PlacedRewards {
  const { scores, tokenScores, kl, offsets } = parts;
  const { rewardPlacement: placement, klPlacement } = options;
  const beta = klPlacement === 'reward' ? options.klCoef : 0;
  const stepOffsets = placeSteps(offsets, options);
  const rewards = new Float32Array(stepOffsets.at(-1)!);
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    const [first, end] = [stepOffsets[i]!, stepOffsets[i + 1]!];
    for (let n = offsets[i]!; n < offsets[i + 1]!; n++) {
      const everyToken = placement === 'every' ? score : 0;
      const step = first + n - offsets[i]!;
      rewards[step] = (tokenScores?.[n] ?? 0) + everyToken - beta * kl[n]!;
    }
    if (placement !== 'every') rewards[end - 1] = rewards[end - 1]! + score;
  }
  return { rewards, stepOffsets };
}

/** One step per token, plus the extra step of `after-final`. */
function placeSteps(
  offsets: Int32Array,
  { rewardPlacement, maxNewTokens }: PlacementOptions,
): Int32Array {
  const stepOffsets = new Int32Array(offsets.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (length < 1) {
      throw new RangeError(
        `Cannot place rewards: response ${i} must have at least one token, got none`,
      );
    }
    const extra = rewardPlacement === 'after-final' && length < maxNewTokens ? 1 : 0;
    stepOffsets[i + 1] = stepOffsets[i]! + length + extra;
  }
  return stepOffsets;
}
