import type { RandomStream } from '../../engine/random/index.ts';
import { goldScore } from './gold-score.ts';
import type { Post } from './post.ts';

/** A summary to be compared. */
export interface Candidate {
  readonly text: string;
  /** Whether it stopped by itself, rather than at the limit of length. */
  readonly finished: boolean;
}

export interface PreferenceOptions {
  /** τ, the temperature of the judge: 0 always prefers the better score. */
  readonly noise: number;
  /** Gold scores no further apart than this are a tie; only equal ones if not given. */
  readonly tieMargin?: number;
  readonly random: RandomStream;
}

/** How two summaries compare. */
export interface Preference {
  readonly preferred: 'first' | 'second' | 'tie';
  /** P(first ≻ second). */
  readonly probability: number;
  readonly scores: readonly [number, number];
}

/** Compares two summaries as a person would who mostly sees which one is better (Bradley–Terry):
 *  P(a ≻ b) = 1/(1 + exp(−(s_a − s_b)/τ))
 *  One number is drawn from the stream, whatever the outcome.
 *  @example s_a = 0.6, s_b = 0.4, τ = 0.1  →  P = 1/(1 + e⁻²) = 0.8808 */
export function makePreference(
  post: Pick<Post, 'facts'>,
  [a, b]: readonly [Candidate, Candidate],
  { noise, tieMargin = 0, random }: PreferenceOptions,
): Preference {
  if (!(noise >= 0)) {
    throw new RangeError(`Cannot make a preference: noise must be at least 0, got ${noise}`);
  }
  const scores = [goldScore(post, a.text, a).score, goldScore(post, b.text, b).score] as const;
  const gap = scores[0] - scores[1];
  const drawn = random.next();
  if (Math.abs(gap) <= tieMargin) return { preferred: 'tie', probability: 0.5, scores };
  const probability = 1 / (1 + Math.exp(-gap / noise));
  return { preferred: drawn < probability ? 'first' : 'second', probability, scores };
}
