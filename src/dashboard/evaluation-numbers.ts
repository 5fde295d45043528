import { evaluationMetrics, type Performance } from '../loop/evaluation-report.ts';
import type { EvaluationRow } from './api.ts';

/** The numbers of an evaluation by metric name, whether it is a report of the evaluator or the metrics
 *  of a validation.
 *  @example { step: 5, performance: { kl: 2 } }  →  { 'eval/kl': 2 } */
export function evaluationNumbers({
  step: _,
  performance,
  ...validation
}: EvaluationRow): Record<string, number> {
  const metrics: Readonly<Record<string, unknown>> =
    typeof performance === 'object' && performance !== null
      ? evaluationMetrics({ performance: performance as Performance })
      : {};
  const entries = Object.entries({ ...validation, ...metrics });
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}
