import type { EvaluationRow, LogRow } from '../../api.ts';
import type { Tone } from './describe-run.ts';

/** What the evaluator says of a run. */
export interface Verdict {
  readonly step: number;
  readonly message: string;
  readonly tone: Tone;
}

/** The verdict of the last evaluation that has one.
 *  @example { step: 5, convergence: { message: 'It rises', performanceImproved: true } }  →  'It rises', good */
export function lastVerdict(evaluations: readonly EvaluationRow[]): Verdict | undefined {
  for (const { step, convergence } of evaluations.toReversed()) {
    if (typeof convergence !== 'object' || convergence === null) continue;
    const { message, stop, performanceImproved } = convergence as Record<string, unknown>;
    if (typeof message !== 'string') continue;
    if (stop !== undefined && stop !== 'converged') return { step, message, tone: 'bad' };
    return {
      step,
      message,
      tone: stop === 'converged' || performanceImproved === true ? 'good' : 'quiet',
    };
  }
  return undefined;
}

/** Warnings, the newest first; one that is told again and again only once, with how often.
 *  @example 'KL is high' at steps 3 and 5  →  'KL is high' at step 5, 2 times */
export function listWarnings(log: readonly LogRow[]) {
  const warnings = new Map<string, { message: string; step: number; times: number }>();
  for (const { type, message, step } of log) {
    if (type !== 'warning') continue;
    const times = (warnings.get(message)?.times ?? 0) + 1;
    warnings.delete(message);
    warnings.set(message, { message, step, times });
  }
  return [...warnings.values()].reverse();
}
