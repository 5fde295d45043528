import type { RandomStream } from '../../engine/random/index.ts';
import type { Post } from './facts.ts';
import { goldScore } from './gold-score.ts';

/** A summary to rank. */
export interface Candidate {
  readonly text: string;
  /** Whether it stopped by itself, not at the length limit. */
  readonly finished: boolean;
}

export interface RankOptions {
  /** τ, the temperature of the judge: 0 always prefers the better score. */
  readonly noise: number;
  readonly random: RandomStream;
}

/** A ranked summary. */
export interface RankedSummary {
  /** Index among the candidates. */
  readonly index: number;
  /** The gold score without noise. */
  readonly score: number;
}

/** Ranks summaries from best to worst like a noisy person: by s_i + τ·g_i with Gumbel noise
 *  g = −ln(−ln u), so the first is i with probability P(i) = exp(s_i/τ)/Σ_j exp(s_j/τ)
 *  (Plackett–Luce; Bradley–Terry for two). Always uses one random number per summary.
 *  @example s = 0.6 and 0.4, τ = 0.1  →  P(the first is best) = 1/(1 + e⁻²) = 0.8808 */
export function rankSummaries(
  post: Pick<Post, 'facts'>,
  candidates: readonly Candidate[],
  { noise, random }: RankOptions,
): RankedSummary[] {
  if (!(noise >= 0)) {
    throw new RangeError(`Cannot rank summaries: noise must be at least 0, got ${noise}`);
  }
  const noisy = candidates.map((candidate, index) => {
    const { score } = goldScore(post, candidate.text, candidate);
    return { index, score, noisyScore: score + noise * gumbel(random) };
  });
  return noisy
    .sort((a, b) => b.noisyScore - a.noisyScore)
    .map(({ index, score }) => ({ index, score }));
}

/** Finite, because u is between 2⁻³³ and 1 − 2⁻³³. */
function gumbel(random: RandomStream): number {
  const u = Math.min(Math.max(random.next(), 2 ** -33), 1 - 2 ** -33);
  return -Math.log(-Math.log(u));
}
