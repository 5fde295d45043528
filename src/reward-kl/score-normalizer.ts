import type { PPOConfig } from '../config/ppo-config.ts';
import { moments } from './whiten.ts';

/** The config fields that score normalisation reads. */
export type ScoreNormalizerConfig = Pick<PPOConfig, 'scoreNormalization' | 'scoreClip'>;

/** The score of a response, minus missingEosPenalty if neither a stop token nor a stop string ended it.
 *  @example score 2, penalty ½  →  2 if finished, 1½ if not */
export function penaliseMissingEos(
  score: number,
  { finished, missingEosPenalty }: { finished: boolean } & Pick<PPOConfig, 'missingEosPenalty'>,
): number {
  return score - (finished ? 0 : missingEosPenalty);
}

/** The scores of responses with the penalty for those that did not finish, [B]. Training optimises
 *  these, so evaluations compare them. */
export function penaliseUnfinished(
  scores: Float32Array,
  samples: readonly { readonly finished: boolean }[],
  { missingEosPenalty }: Pick<PPOConfig, 'missingEosPenalty'>,
): Float32Array {
  return scores.map((score, i) =>
    penaliseMissingEos(score, { finished: samples[i]!.finished, missingEosPenalty }),
  );
}

/** Moments of all scores so far: count, mean μ, and Σ(x − μ)². */
export interface ScoreMoments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
}

/** Scores after normalisation, and the scale that was applied. */
export interface NormalizedScores {
  readonly scores: Float32Array;
  /** The factor applied to differences between scores, before clipping. */
  readonly scale: number;
}

const EMPTY: ScoreMoments = { count: 0, mean: 0, squares: 0 };

/** A standard deviation this small relative to the scores is rounding error. */
const ROUNDING_ERROR = 1e-6;

/** Normalises scores to mean 0 and standard deviation 1 over a batch or the run, then clips them. */
export class ScoreNormalizer {
  private readonly config: ScoreNormalizerConfig;
  private running = EMPTY;

  constructor(config: ScoreNormalizerConfig) {
    this.config = config;
  }

  /** Adds scores to the running moments. */
  add(scores: ArrayLike<number>): void {
    this.running = mergeMoments(this.running, momentsOf(scores));
  }

  /** x ← clip((x − μ)/σ, ±c), with the moments of these scores (`batch`), of all added scores
   *  (`running`), or μ = 0, σ = 1 (`none`). If all scores are equal, as a single one is, σ counts as 1
   *  and they become x − μ = 0.
   *  @example batch, no clip: [1, 3]  →  μ=2, σ=1  →  [−1, 1]
   *  @example running, [1, 3] and [8] added: [8]  →  μ=4, σ²=26/3  →  [4/√(26/3)] ≈ [1.3587] */
  normalize(scores: ArrayLike<number>): NormalizedScores {
    const { mean, scale } = this.normalization(scores);
    const limit = this.config.scoreClip ?? Infinity;
    const clip = (z: number) => Math.min(Math.max(z, -limit), limit);
    return { scores: Float32Array.from(scores, (x) => clip((x - mean) * scale)), scale };
  }

  /** Running moments of the scores, for a checkpoint. */
  state(): ScoreMoments {
    return this.running;
  }

  /** Restores the running moments from a checkpoint; throws if they are invalid. */
  restore({ count, mean, squares }: ScoreMoments): void {
    const isCount = Number.isSafeInteger(count) && count >= 0;
    if (!isCount || !Number.isFinite(mean) || !Number.isFinite(squares) || squares < 0) {
      throw new RangeError(
        `Cannot restore the score normaliser: it must have a count, a mean and a sum of squares, ` +
          `got ${JSON.stringify({ count, mean, squares })}; restore what state() returned`,
      );
    }
    this.running = { count, mean, squares };
  }

  private normalization(scores: ArrayLike<number>): { mean: number; scale: number } {
    const { scoreNormalization } = this.config;
    if (scoreNormalization === 'none') return { mean: 0, scale: 1 };
    return normalizationOf(scoreNormalization === 'batch' ? momentsOf(scores) : this.running);
  }
}

function momentsOf(scores: ArrayLike<number>): ScoreMoments {
  const { mean, variance } = moments(scores, 'biased');
  return { count: scores.length, mean, squares: variance * scores.length };
}

/** Merges the moments of two sets (Chan, Golub, LeVeque 1979). With d = μ_b − μ_a, n = n_a + n_b:
 *  μ = μ_a + d·n_b/n;  squares = squares_a + squares_b + d²·n_a·n_b/n
 *  @example [1, 3] and [8]  →  count 3, mean 4, squares 2 + 36·2/3 = 26 */
export function mergeMoments(a: ScoreMoments, b: ScoreMoments): ScoreMoments {
  const count = a.count + b.count;
  if (count === 0) return EMPTY;
  const d = b.mean - a.mean;
  return {
    count,
    mean: a.mean + (d * b.count) / count,
    squares: a.squares + b.squares + (d * d * a.count * b.count) / count,
  };
}

function normalizationOf({ count, mean, squares }: ScoreMoments): { mean: number; scale: number } {
  const std = count === 0 ? 0 : Math.sqrt(squares / count);
  const isConstant = std <= ROUNDING_ERROR * Math.hypot(mean, std);
  return { mean, scale: isConstant ? 1 : 1 / std };
}
