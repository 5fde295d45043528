import type { Metrics } from '../../loop/records.ts';
import { showNumber } from '../train/step-line.ts';

/** How a part in 0 … 1 is shown.
 *  @example 0.755  →  '75.5 %', NaN  →  '–' */
export function showPart(part: number): string {
  return Number.isNaN(part) ? '–' : `${(100 * part).toFixed(1)} %`;
}

/** What stages measure, most important first, and how it is shown. */
const shown: readonly (readonly [string, string, (value: number) => string])[] = [
  ['loss', 'loss', showNumber],
  ['perplexity', 'perplexity', showNumber],
  ['accuracy', 'accuracy', showPart],
  ['margin', 'margin', showNumber],
  ['calibration', 'calibration error', showNumber],
];

/** What is worth seeing of a step's metrics or a validation's.
 *  @example { 'train/loss': 0.5, 'train/accuracy': 0.75, lr: 1 }  →  ['loss 0.500', 'accuracy 75.0 %'] */
export function describeStageMetrics(metrics: Metrics): string[] {
  return listStageMetrics(metrics).map(({ name, text }) => `${name} ${text}`);
}

/** The same as names and texts. */
export function listStageMetrics(metrics: Metrics): { name: string; text: string }[] {
  return shown.flatMap(([metric, name, show]) => {
    const value = metrics[`eval/${metric}`] ?? metrics[`train/${metric}`];
    return value === undefined ? [] : [{ name, text: show(value) }];
  });
}
