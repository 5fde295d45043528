import type { RandomStream } from '../../engine/random/index.ts';
import { goldScore } from './gold-score.ts';
import type { Post } from './post.ts';

/** A summary to be compared. */
export interface Candidate {
  readonly text: string;
  /** Whether it stopped by itself, rather than at the limit of length. */
  readonly finished: boolean;
}

export interface RankOptions {
  /** τ, the temperature of the judge: 0 always sees the better score. */
  readonly noise: number;
  readonly random: RandomStream;
}

/** A summary in its place. */
export interface RankedSummary {
  /** Place among the candidates. */
  readonly index: number;
  /** The gold score, which the judge sees through the noise. */
  readonly score: number;
}

/** Puts summaries in order, the best first, as a person would who mostly sees which is better:
 *  each is seen as s_i + τ·g_i with Gumbel noise g = −ln(−ln u), so that the best is drawn by
 *  P(i) = exp(s_i/τ)/Σ_j exp(s_j/τ) (Plackett–Luce; Bradley–Terry of two).
 *  One number is drawn for each summary, whatever the outcome.
 *  @example s = 0.6 and 0.4, τ = 0.1  →  P(the first is best) = 1/(1 + e⁻²) = 0.8808 */
export function rankSummaries(
  post: Pick<Post, 'facts'>,
  candidates: readonly Candidate[],
  { noise, random }: RankOptions,
): RankedSummary[] {
  if (!(noise >= 0)) {
    throw new RangeError(`Cannot rank summaries: noise must be at least 0, got ${noise}`);
  }
  const seen = candidates.map((candidate, index) => {
    const { score } = goldScore(post, candidate.text, candidate);
    return { index, score, seen: score + noise * gumbel(random) };
  });
  return seen.sort((a, b) => b.seen - a.seen).map(({ index, score }) => ({ index, score }));
}

/** Finite: u stands between 2⁻³³ and 1 − 2⁻³³. */
function gumbel(random: RandomStream): number {
  const u = Math.min(Math.max(random.next(), 2 ** -33), 1 - 2 ** -33);
  return -Math.log(-Math.log(u));
}
