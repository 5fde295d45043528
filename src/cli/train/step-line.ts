import type { EvaluationReport } from '../../loop/evaluation-report.ts';
import type { Metrics } from '../../loop/records.ts';

/** A number in about four digits; a dash where there is none.
 *  @example 0.123456  →  '0.123', −12.345  →  '-12.35', −1234.4  →  '-1234', NaN  →  '–' */
export function showNumber(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(1);
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return value.toFixed(digits).replace(/^-(?=[0.]+$)/, '');
}

/** What is worth seeing of a step, most important first. */
export function describeMetrics(metrics: Metrics): string[] {
  const explained = metrics['ppo/val/var_explained'];
  const speed = metrics['perf/tokens_per_second'];
  return [
    `reward ${showNumber(metrics['objective/scores'])}`,
    `KL ${showNumber(metrics['objective/kl'])}`,
    `entropy ${showNumber(metrics['policy/entropy_avg'])}`,
    ...(explained === undefined ? [] : [`value EV ${showNumber(explained)}`]),
    ...(speed === undefined ? [] : [`${Math.round(speed)} tokens/s`]),
  ];
}

/** What is worth seeing of an evaluation, most important first. */
export function describeEvaluation({
  performance,
}: Pick<EvaluationReport, 'performance'>): string[] {
  const { reward, greedyReward, winRate, kl, entropy, length } = performance;
  return [
    `reward ${showNumber(reward)}`,
    `greedy ${showNumber(greedyReward)}`,
    `win rate ${Math.round(100 * winRate)} %`,
    `KL ${showNumber(kl)}`,
    `entropy ${showNumber(entropy)}`,
    `length ${showNumber(length)}`,
  ];
}
