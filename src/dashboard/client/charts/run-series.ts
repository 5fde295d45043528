import type { EvaluationRow, MetricColumns } from '../../api.ts';
import type { Points } from './align-series.ts';

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
