import type { ScoredSamples } from './reward-computation.ts';
import type { RewardSample, Score } from './reward-source.ts';

/** The answer of one source to all samples. */
export interface SourceScores {
  readonly name: string;
  readonly weight: number;
  readonly scores: readonly Score[];
}

/** Scores of all sources, weighted and added up: R = Σ_k w_k·R_k. Scores of tokens count with their
 *  sum, and are kept by token too.
 *  @example one sample of two tokens: a (weight 1) gives 1, b (weight ½) gives [2, 4]
 *    →  scores [1 + ½·6] = [4], tokenScores [1, 2], a's own [1], b's own [6] */
export function combineScores(
  samples: readonly RewardSample[],
  sources: readonly SourceScores[],
): ScoredSamples {
  const offsets = [0];
  for (const { tokens } of samples) offsets.push(offsets.at(-1)! + tokens.length);
  const totals = new Float64Array(samples.length);
  const tokenTotals = new Float64Array(offsets.at(-1)!);
  const bySource = new Map<string, Float32Array>();
  for (const { name, weight, scores } of sources) {
    const own = scores.map(sumOf);
    bySource.set(name, Float32Array.from(own));
    own.forEach((score, i) => {
      totals[i] = totals[i]! + weight * score;
      addTokens(tokenTotals.subarray(offsets[i]!), { score: scores[i]!, weight });
    });
  }
  const hasTokens = sources.some(({ scores }) => scores.some((score) => typeof score !== 'number'));
  return {
    scores: Float32Array.from(totals),
    tokenScores: hasTokens ? Float32Array.from(tokenTotals) : undefined,
    bySource,
  };
}

function addTokens(
  totals: Float64Array,
  { score, weight }: { score: Score; weight: number },
): void {
  if (typeof score === 'number') return;
  for (let t = 0; t < score.length; t++) totals[t] = totals[t]! + weight * score[t]!;
}

function sumOf(score: Score): number {
  if (typeof score === 'number') return score;
  let sum = 0;
  for (let t = 0; t < score.length; t++) sum += score[t]!;
  return sum;
}
