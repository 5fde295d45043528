import type { PPOConfig } from '../config/ppo-config.ts';
import { moments } from './whiten.ts';

export type ScoreNormalizerConfig = Pick<PPOConfig, 'scoreNormalization' | 'scoreClip'>;

/** The score of a response, less missingEosPenalty if no stop token came.
 *  @example score 2, penalty ½  →  2 if finished, 1½ if not */
export function penaliseMissingEos(
  score: number,
  { finished, missingEosPenalty }: { finished: boolean } & Pick<PPOConfig, 'missingEosPenalty'>,
): number {
  return score - (finished ? 0 : missingEosPenalty);
}

/** Moments of all scores so far: their number, mean μ, and sum of (x − μ)². */
export interface ScoreMoments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
}

export interface NormalizedScores {
  readonly scores: Float32Array;
  /** What differences between scores were multiplied by, before they were cut. */
  readonly scale: number;
}

const NOTHING: ScoreMoments = { count: 0, mean: 0, squares: 0 };

/** A deviation this small next to the scores is rounding, not a difference. */
const ROUNDING = 1e-6;

/** Brings scores to mean 0 and deviation 1, over a batch or over the run, then cuts them. */
export class ScoreNormalizer {
  private readonly config: ScoreNormalizerConfig;
  private soFar = NOTHING;

  constructor(config: ScoreNormalizerConfig) {
    this.config = config;
  }

  /** Counts scores in the moments of the run. */
  add(scores: ArrayLike<number>): void {
    this.soFar = mergeMoments(this.soFar, momentsOf(scores));
  }

  /** x ← clip((x − μ)/σ, ±c), with the moments of these scores (`batch`), of all that were added
   *  (`running`), or μ = 0, σ = 1 (`none`). Where all scores are equal, as one alone is, they say
   *  nothing of what is better: σ counts as 1, and they become x − μ = 0.
   *  @example batch, no clip: [1, 3]  →  μ=2, σ=1  →  [−1, 1]
   *  @example running, [1, 3] and [8] added: [8]  →  μ=4, σ²=26/3  →  [4/√(26/3)] ≈ [1.3587] */
  normalize(scores: ArrayLike<number>): NormalizedScores {
    const { mean, scale } = this.standard(scores);
    const limit = this.config.scoreClip ?? Infinity;
    const cut = (z: number) => Math.min(Math.max(z, -limit), limit);
    return { scores: Float32Array.from(scores, (x) => cut((x - mean) * scale)), scale };
  }

  state(): ScoreMoments {
    return this.soFar;
  }

  restore({ count, mean, squares }: ScoreMoments): void {
    const isCount = Number.isSafeInteger(count) && count >= 0;
    if (!isCount || !Number.isFinite(mean) || !Number.isFinite(squares) || squares < 0) {
      throw new RangeError(
        `Cannot restore the score normaliser: it needs a count, a mean and a sum of squares, ` +
          `got ${JSON.stringify({ count, mean, squares })}; restore what state() gave`,
      );
    }
    this.soFar = { count, mean, squares };
  }

  private standard(scores: ArrayLike<number>): { mean: number; scale: number } {
    const { scoreNormalization } = this.config;
    if (scoreNormalization === 'none') return { mean: 0, scale: 1 };
    return standardOf(scoreNormalization === 'batch' ? momentsOf(scores) : this.soFar);
  }
}

function momentsOf(scores: ArrayLike<number>): ScoreMoments {
  const { mean, variance } = moments(scores, 'biased');
  return { count: scores.length, mean, squares: variance * scores.length };
}

/** Moments of two sets as one (Chan, Golub, LeVeque 1979). With d = μ_b − μ_a, n = n_a + n_b:
 *  μ = μ_a + d·n_b/n;  squares = squares_a + squares_b + d²·n_a·n_b/n
 *  @example [1, 3] and [8]  →  count 3, mean 4, squares 2 + 36·2/3 = 26 */
export function mergeMoments(a: ScoreMoments, b: ScoreMoments): ScoreMoments {
  const count = a.count + b.count;
  if (count === 0) return NOTHING;
  const d = b.mean - a.mean;
  return {
    count,
    mean: a.mean + (d * b.count) / count,
    squares: a.squares + b.squares + (d * d * a.count * b.count) / count,
  };
}

function standardOf({ count, mean, squares }: ScoreMoments): { mean: number; scale: number } {
  const deviation = count === 0 ? 0 : Math.sqrt(squares / count);
  const isRounding = deviation <= ROUNDING * Math.hypot(mean, deviation);
  return { mean, scale: isRounding ? 1 : 1 / deviation };
}
