import { isHumanEvaluation } from '../../../run/human-evaluation.ts';
import type { EvaluationRow, MetricColumns } from '../../api.ts';
import { evaluationNumbers } from '../../evaluation-numbers.ts';

/** Numbers at increasing steps. */
export interface Points {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Columns over one list of steps. Undefined means that a series has no such step, so its line
 *  continues; null means that it has no number there, so its line has a gap. */
export interface Aligned {
  readonly steps: number[];
  readonly columns: (number | null | undefined)[][];
}

/** Aligns series over the union of their steps.
 *  @example steps [1, 3] with [5, null], and [2, 3] with [7, 8]  →  steps [1, 2, 3], [5, undefined, null], [undefined, 7, 8] */
export function alignSeries(series: readonly Points[]): Aligned {
  const lists = [...new Set(series.map(({ steps }) => steps))];
  const steps =
    lists.length === 1
      ? [...lists[0]!]
      : [...new Set(lists.flat())].sort((first, second) => first - second);
  const positions = new Map(steps.map((step, i) => [step, i]));
  const columns = series.map((one) => {
    const column = new Array<number | null | undefined>(steps.length).fill(undefined);
    one.steps.forEach((step, i) => {
      column[positions.get(step)!] = one.values[i] ?? null;
    });
    return column;
  });
  return { steps, columns };
}

/** Index of the nearest step that has a number; −1 if there is none.
 *  @example steps [10, 20, 30], values [1, null, 3], step 19  →  0 (20 has no number) */
export function nearestIndex({ steps, values }: Points, step: number): number {
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

/** The series of a run by metric name: metrics of its steps and of its evaluations. */
export type RunSeries = ReadonlyMap<string, Points>;

/** Collects the series of metrics and evaluations. Series without any number are left out, and so are
 *  evaluations by people, which are few.
 *  @example an evaluation { step: 5, performance: { kl: 2 } }  →  'eval/kl' with 2 at step 5 */
export function collectSeries(metrics: MetricColumns, rows: readonly EvaluationRow[]): RunSeries {
  const evaluations = rows.filter((row) => !isHumanEvaluation(row));
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

/** Exponential moving average, corrected for its start at 0; nulls are kept and ignored.
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

/** Stacks columns: each becomes the sum of itself and those before it. A missing number stays missing
 *  and counts as 0 in the sums above it.
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
