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

/** Σ(x − x̄)², measured from the first number, so that it is exactly 0 for equal ones. */
function squaredDeviations(x: ArrayLike<number>): number {
  const shifted = Float64Array.from(x, (value) => value - x[0]!);
  const centre = mean(shifted);
  return shifted.reduce((sum, value) => sum + (value - centre) ** 2, 0);
}

/** The normal quantile of a two-sided 95 % interval. */
const Z = 1.959964;

/** Lower and upper end of an interval. */
export type Interval = readonly [low: number, high: number];

/** The 95 % interval of a mean of independent numbers: m ± 1.96·s/√n; NaN for fewer than two.
 *  @example [1, 3]  →  s = √2, 2 ± 1.96·1 = [0.04, 3.96] */
export function meanInterval(x: ArrayLike<number>): Interval {
  if (x.length < 2) return [Number.NaN, Number.NaN];
  const half = (Z * standardDeviation(x)) / Math.sqrt(x.length);
  return [mean(x) - half, mean(x) + half];
}

/** Wilson's 95 % interval of a proportion p of n cases. Unlike p ± 1.96·SE it has a width at 0 and 1.
 *  With c = 1.96²: (p + c/2n ± √(c·p(1−p)/n + c²/4n²))/(1 + c/n); NaN without cases.
 *  @example p=1, n=4  →  [0.51, 1] */
export function proportionInterval(p: number, n: number): Interval {
  if (!(n > 0)) return [Number.NaN, Number.NaN];
  const c = Z * Z;
  const middle = p + c / (2 * n);
  const half = Math.sqrt((c * p * (1 - p)) / n + (c / (2 * n)) ** 2);
  const clamp = (x: number) => Math.min(1, Math.max(0, x / (1 + c / n)));
  return [clamp(middle - half), clamp(middle + half)];
}
