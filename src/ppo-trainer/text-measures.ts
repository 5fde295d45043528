/** The mean x̄ = Σx/n.
 *  @example [1, 2, 3, 4]  →  2.5 */
export function mean(x: ArrayLike<number>): number {
  if (x.length === 0) throw new Error('Internal: the mean of no numbers');
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]!;
  return sum / x.length;
}

/** The deviation of a sample s = √(Σ(x − x̄)²/(n − 1)); 0 for a single number.
 *  @example [1, 2, 3, 6]  →  √(14/3) = 2.1602 */
export function standardDeviation(x: ArrayLike<number>): number {
  if (x.length === 1) return 0;
  return Math.sqrt(squaredDeviations(x) / (x.length - 1));
}

/** The mean over prompts of the best of n scores; those of one prompt stand side by side.
 *  @example n=2, scores=[1, 3, 0, −2]  →  (3 + 0)/2 = 1.5 */
export function bestOfN(scores: ArrayLike<number>, n: number): number {
  if (scores.length % n !== 0) {
    throw new Error(`Internal: ${scores.length} scores are not ${n} for each prompt`);
  }
  const best = Array.from({ length: scores.length / n }, (_, prompt) => {
    let top = scores[prompt * n]!;
    for (let i = 1; i < n; i++) top = Math.max(top, scores[prompt * n + i]!);
    return top;
  });
  return mean(best);
}

/** The part of pairs in which the first score is higher; a tie counts ½.
 *  @example [1, 2, 3, 0] against [0, 2, 5, 0]  →  (1 + ½ + 0 + ½)/4 = ½ */
export function winRate(scores: ArrayLike<number>, refScores: ArrayLike<number>): number {
  expectPairs(scores, refScores);
  return mean(
    Array.from(scores, (score, i) => {
      const refScore = refScores[i]!;
      return score === refScore ? 0.5 : Number(score > refScore);
    }),
  );
}

/** The part of a response's 3-grams of token ids that came before in it, averaged over responses;
 *  0 for a response of fewer than three tokens.
 *  @example [[7, 7, 7, 7, 7], [1, 2, 3, 1, 2, 3], [4]]  →  (⅔ + ¼ + 0)/3 = 11/36 */
export function repetition(responses: readonly ArrayLike<number>[]): number {
  return mean(responses.map(repeatedPart));
}

function repeatedPart(tokens: ArrayLike<number>): number {
  const count = tokens.length - 2;
  if (count < 1) return 0;
  const seen = new Set<string>();
  for (let t = 0; t < count; t++) seen.add(`${tokens[t]},${tokens[t + 1]},${tokens[t + 2]}`);
  return 1 - seen.size / count;
}

/** How much of the returns' spread the values foresee: 1 − Var(G − V)/Var(G).
 *  1 is all of it, 0 no more than a constant does, below 0 less. NaN where all returns are equal:
 *  there is nothing to foresee.
 *  @example G=[0, 2, 4], V=[1, 2, 3]  →  1 − (⅔)/(8/3) = ¾ */
export function explainedVariance(returns: ArrayLike<number>, values: ArrayLike<number>): number {
  expectPairs(returns, values);
  const spread = squaredDeviations(returns);
  if (spread === 0) return Number.NaN;
  const errors = Float64Array.from(returns, (g, i) => g - values[i]!);
  return 1 - squaredDeviations(errors) / spread;
}

/** Σ(x − x̄)², measured from the first number so that equal ones give exactly 0. */
function squaredDeviations(x: ArrayLike<number>): number {
  const shifted = Float64Array.from(x, (value) => value - x[0]!);
  const centre = mean(shifted);
  return shifted.reduce((sum, value) => sum + (value - centre) ** 2, 0);
}

function expectPairs(a: ArrayLike<number>, b: ArrayLike<number>): void {
  if (a.length !== b.length) {
    throw new Error(`Internal: ${a.length} numbers are compared with ${b.length}`);
  }
}
