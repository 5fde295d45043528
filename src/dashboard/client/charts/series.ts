import type { EvaluationRow, MetricColumns } from '../../api.ts';

/** Numbers at steps that rise. */
export interface Points {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Columns over one list of steps. Undefined says that a series has no such step, so that its line
 *  goes on; null that it has no number there, so that its line has a gap. */
export interface Aligned {
  readonly steps: number[];
  readonly columns: (number | null | undefined)[][];
}

/** Puts series over the steps that any of them has.
 *  @example steps [1, 3] with [5, null], and [2, 3] with [7, 8]  →  steps [1, 2, 3], [5, undefined, null], [undefined, 7, 8] */
export function alignSeries(series: readonly Points[]): Aligned {
  const lists = [...new Set(series.map(({ steps }) => steps))];
  const steps =
    lists.length === 1
      ? [...lists[0]!]
      : [...new Set(lists.flat())].sort((first, second) => first - second);
  const places = new Map(steps.map((step, place) => [step, place]));
  const columns = series.map((one) => {
    const column = new Array<number | null | undefined>(steps.length).fill(undefined);
    one.steps.forEach((step, i) => {
      column[places.get(step)!] = one.values[i] ?? null;
    });
    return column;
  });
  return { steps, columns };
}

/** The place whose step is nearest to one and has a number; −1 where there is none.
 *  @example steps [10, 20, 30], values [1, null, 3], step 19  →  0 (10 is as near as any with a number) */
export function nearestPlace({ steps, values }: Points, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  let before = low - 1;
  let after = low;
  while (before >= 0 && values[before] == null) before--;
  while (after < steps.length && values[after] == null) after++;
  if (after >= steps.length) return before;
  if (before < 0) return after;
  return step - steps[before]! <= steps[after]! - step ? before : after;
}

/** Every series of a run by the metric's name: what its steps told, and its evaluations. */
export type RunSeries = ReadonlyMap<string, Points>;

/** The numbers of an evaluator's report under the names that docs/metrics.md gives them. */
const performanceNames: Readonly<Record<string, string>> = {
  reward: 'eval/reward',
  rewardStd: 'eval/reward_std',
  greedyReward: 'eval/greedy_reward',
  bestOfN: 'eval/best_of_n',
  winRate: 'eval/win_rate',
  kl: 'eval/kl',
  entropy: 'eval/entropy',
  length: 'eval/length',
  repetition: 'eval/repetition',
  explainedVariance: 'eval/explained_variance',
};

/** Series of metrics and evaluations. Those without a single number are left out.
 *  @example an evaluation { step: 5, performance: { kl: 2 } }  →  'eval/kl' with 2 at step 5 */
export function collectSeries(
  metrics: MetricColumns,
  evaluations: readonly EvaluationRow[],
): RunSeries {
  const series = new Map<string, Points>();
  for (const [name, values] of Object.entries(metrics.columns)) {
    if (values.some((value) => value !== null)) series.set(name, { steps: metrics.steps, values });
  }
  const numbers = evaluations.map(evaluationNumbers);
  const steps = evaluations.map(({ step }) => step);
  for (const name of new Set(numbers.flatMap((row) => Object.keys(row)))) {
    series.set(name, { steps, values: numbers.map((row) => row[name] ?? null) });
  }
  return series;
}

function evaluationNumbers({ step: _, performance, ...rest }: EvaluationRow) {
  const numbers: Record<string, number> = {};
  const put = (name: string, value: unknown) => {
    if (typeof value === 'number') numbers[name] = value;
  };
  for (const [name, value] of Object.entries(rest)) put(name, value);
  for (const [name, value] of Object.entries(performance ?? {})) {
    const metric = performanceNames[name];
    if (metric !== undefined) put(metric, value);
  }
  return numbers;
}

/** Exponential moving average that does not lean towards 0 at its start; nulls stay and count for nothing.
 *  s_n = w·s_{n−1} + (1 − w)·x_n with s_0 = 0;  ŝ_n = s_n / (1 − wⁿ)
 *  @example w=½, x=[1, null, 3]  →  [1, null, 7/3] */
export function smooth(x: readonly (number | null)[], w: number): (number | null)[] {
  let s = 0;
  let n = 0;
  return x.map((x_n) => {
    if (x_n === null) return null;
    n++;
    s = w * s + (1 - w) * x_n;
    return s / (1 - w ** n);
  });
}

type Column = readonly (number | null | undefined)[];

/** Columns on top of each other: each has the sum of itself and of those before it. Where one has no
 *  number it has none still, and counts as 0 below others.
 *  @example [1, 2], [3, null], [5, 6]  →  [1, 2], [4, null], [9, 8] */
export function stackColumns(columns: readonly Column[]): (number | null | undefined)[][] {
  const sums = new Map<number, number>();
  return columns.map((column) =>
    column.map((value, row) => {
      if (value == null) return value;
      const sum = (sums.get(row) ?? 0) + value;
      sums.set(row, sum);
      return sum;
    }),
  );
}
