import type { PPOConfig } from '../config/ppo-config.ts';

/** What rewards are made of: B responses with N tokens end to end. */
export interface RewardParts {
  /** Score R of each response as a whole, [B]. */
  readonly scores: Float32Array;
  /** Scores of single tokens, which stay where they are, [N]. */
  readonly tokenScores?: Float32Array | undefined;
  /** KL_t, [N]. */
  readonly kl: Float32Array;
  /** [B + 1] */
  readonly offsets: Int32Array;
}

export interface PlacementOptions
  extends Pick<PPOConfig, 'klPlacement' | 'rewardPlacement' | 'maxNewTokens'> {
  /** β as it is in this step. */
  readonly klCoef: number;
}

export interface PlacedRewards {
  /** r_t, [S]. */
  readonly rewards: Float32Array;
  /** Sequence i has the steps from stepOffsets[i] to stepOffsets[i + 1], [B + 1]. */
  readonly stepOffsets: Int32Array;
}

/** The reward of each step.
 *  r_t = −β·KL_t (0 where the penalty stands in the loss) + the token's own score, and
 *  `final`: + R on the last token;
 *  `every`: + R on every token, the documents' r'_t = R − β·KL_t;
 *  `after-final`: + R on a step of its own after the last token, as TRL has it; a response of
 *  maxNewTokens has no such step, and R stands on its last token.
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
      const everywhere = placement === 'every' ? score : 0;
      const step = first + n - offsets[i]!;
      rewards[step] = (tokenScores?.[n] ?? 0) + everywhere - beta * kl[n]!;
    }
    if (placement !== 'every') rewards[end - 1] = rewards[end - 1]! + score;
  }
  return { rewards, stepOffsets };
}

/** One step for each token, and TRL's one more. */
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
