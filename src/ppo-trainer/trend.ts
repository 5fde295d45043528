import type { Trend } from '../loop/evaluation-report.ts';

/** A line fitted to numbers at 0, 1, 2, …, and its residual. */
export interface FittedLine {
  /** From the first to the last number, along the line. */
  readonly change: number;
  /** Standard deviation around the line, with n − 2 degrees of freedom; 0 for two numbers. */
  readonly residual: number;
}

/** Fits a least-squares line: slope = Σ(i − ī)(y_i − ȳ)/Σ(i − ī)², change = slope·(n − 1).
 *  @example [1, 2, 2, 3]  →  slope 3/5, change 9/5; squared residuals 1/5, residual √(1/5/2) = 0.3162 */
export function fitLine(y: readonly number[]): FittedLine {
  const n = y.length;
  const middle = (n - 1) / 2;
  const mean = y.reduce((sum, value) => sum + value, 0) / n;
  let [products, squares] = [0, 0];
  for (const [i, value] of y.entries()) {
    products += (i - middle) * (value - mean);
    squares += (i - middle) ** 2;
  }
  const slope = products / squares;
  const rest = y.reduce((sum, value, i) => sum + (value - mean - slope * (i - middle)) ** 2, 0);
  return { change: slope * (n - 1), residual: n > 2 ? Math.sqrt(rest / (n - 2)) : 0 };
}

interface TrendOptions {
  /** Number of evaluations to look at. */
  readonly window: number;
  /** Largest change over the window that counts as stable. */
  readonly allowed: number;
}

/** The trend of the last evaluations without its sentence. A number that is not finite makes it unknown. */
function findTrend(
  history: readonly number[],
  { window, allowed }: TrendOptions,
): Omit<Trend, 'message'> {
  const recent = history.slice(-window);
  if (recent.length < window || !recent.every(Number.isFinite)) {
    return { direction: 'unknown', change: Number.NaN };
  }
  const { change } = fitLine(recent);
  if (Math.abs(change) <= allowed) return { direction: 'stable', change };
  return { direction: change > 0 ? 'rising' : 'falling', change };
}

/** Whether the KL is stable: its change over the window is at most `klStability` of its mean, or of
 *  1 nat if the mean is lower.
 *  @example KL 2, 4, 6, 8, stability 0.2  →  change 6 > 0.2·5: rising */
export function klTrend(
  history: readonly number[],
  { window, klStability }: { readonly window: number; readonly klStability: number },
): Trend {
  const recent = history.slice(-window);
  const size = Math.abs(recent.reduce((sum, kl) => sum + kl, 0) / recent.length);
  const trend = findTrend(history, { window, allowed: klStability * Math.max(1, size) });
  const [last, change] = [show(history.at(-1)!), show(Math.abs(trend.change))];
  const messages = {
    unknown: `It takes ${window} evaluations to say whether the KL is stable`,
    stable: `The KL is stable: about ${show(size)} nats per response over ${window} evaluations`,
    rising: `The KL is still rising: by ${change} to ${last} nats per response over ${window} evaluations`,
    falling: `The KL is falling: by ${change} to ${last} nats per response over ${window} evaluations`,
  };
  return { ...trend, message: messages[trend.direction] };
}

/** Whether the value model has converged: the explained variance has stopped rising. If it falls, the
 *  value model no longer keeps up with the policy.
 *  @example 0.2, 0.4, 0.5, 0.7, stability 0.05  →  change 0.48: rising */
export function valueTrend(
  history: readonly number[],
  { window, valueStability }: { readonly window: number; readonly valueStability: number },
): Trend {
  const trend = findTrend(history, { window, allowed: valueStability });
  const [last, change] = [show(history.at(-1)!), show(Math.abs(trend.change))];
  const messages = {
    unknown: `It takes ${window} evaluations to say whether the value model has converged`,
    stable: `The value model has converged: the explained variance stays at about ${last} over ${window} evaluations`,
    rising: `The value model is still learning: the explained variance rose by ${change} to ${last} over ${window} evaluations`,
    falling: `The value model is getting worse: the explained variance fell by ${change} to ${last} over ${window} evaluations; lower learningRate or raise valueLearningRate`,
  };
  return { ...trend, message: messages[trend.direction] };
}

/** Rounds to four significant digits. */
export function show(value: number): string {
  return String(Number(value.toPrecision(4)));
}
