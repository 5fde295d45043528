/** The mean x̄ = Σx/n.
 *  @example [1, 2, 3, 4]  →  2.5 */
export function mean(x: ArrayLike<number>): number {
  if (x.length === 0) throw new Error('Internal: the mean of no numbers');
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]!;
  return sum / x.length;
}

/** The sample standard deviation s = √(Σ(x − x̄)²/(n − 1)); 0 for a single number.
 *  @example [1, 2, 3, 6]  →  √(14/3) = 2.1602 */
export function standardDeviation(x: ArrayLike<number>): number {
  if (x.length === 1) return 0;
  return Math.sqrt(squaredDeviations(x) / (x.length - 1));
}

/** How much of the variance of the returns the values explain: 1 − Var(G − V)/Var(G). 1 is all of it,
 *  0 no more than a constant, below 0 less. NaN if all returns are equal.
 *  @example G=[0, 2, 4], V=[1, 2, 3]  →  1 − (⅔)/(8/3) = ¾ */
export function explainedVariance(returns: ArrayLike<number>, values: ArrayLike<number>): number {
  if (returns.length !== values.length) {
    throw new Error(`Internal: ${returns.length} returns and ${values.length} values`);
  }
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
