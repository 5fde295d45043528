import { join } from 'node:path';
import type { Metrics } from '../../loop/records.ts';
import { count } from '../../run/describe-rows.ts';
import type { FirstAndLastValidation } from '../../run/read-validations.ts';
import type { StageRunResult } from '../../run/stage-run.ts';
import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { shorten } from '../train/shorten.ts';
import { formatSeconds } from '../units.ts';
import { listStageMetrics } from './stage-metrics.ts';

export interface StageSummary {
  /** What `model` is, in brackets. */
  readonly modelNote: string;
  /** Numbers beside those before and after, such as what a simple rule reaches. */
  readonly column?: { readonly title: string; readonly metrics: Readonly<Record<string, string>> };
  /** More about the validation. */
  readonly notes: readonly string[];
  /** Commands that can come next. */
  readonly next: readonly string[];
  /** Since the command was given. */
  readonly seconds: number;
  readonly output: Output;
}

/** How the run of a stage ended: numbers before and after, files, and what can be done next. */
export function formatStageSummary(result: StageRunResult, summary: StageSummary): string {
  const { steps, message, validations, items } = result;
  const { output, notes, next, seconds } = summary;
  const title = validations === undefined ? 'Validation' : `Validation on ${describeItems(items)}`;
  const numbers =
    validations === undefined
      ? ['  none: there were no rows to validate on']
      : [formatValidations(validations, summary.column), ...warn(validations)];
  return [
    `${message}. ${steps} ${steps === 1 ? 'step' : 'steps'}, ${formatSeconds(seconds)} since the start of this command.`,
    [bold(title, output), ...numbers, ...notes.map((note) => `  ${note}`)].join('\n'),
    `${bold('Files', output)}\n${formatFiles(result, summary)}`,
    `${bold('Next', output)}\n${next.map((line) => `  ${line}`).join('\n')}`,
  ].join('\n\n');
}

/** @example 1 of texts  →  '1 text' */
function describeItems({ unit, validation }: StageRunResult['items']): string {
  return count(validation, unit.slice(0, -1));
}

function formatValidations(
  { first, last }: FirstAndLastValidation,
  column: StageSummary['column'],
): string {
  const textsOf = (metrics: Metrics) =>
    new Map(listStageMetrics(metrics).map(({ name, text }) => [name, text]));
  const [before, after] = [textsOf(first.metrics), textsOf(last.metrics)];
  const isOne = first.step === last.step;
  const titles = isOne
    ? [`step ${last.step}`]
    : [`before (step ${first.step})`, `after (step ${last.step})`];
  const rows = [...after].map(([name, text]) => [
    name,
    ...(isOne ? [] : [before.get(name) ?? '–']),
    text,
    ...(column === undefined ? [] : [column.metrics[name] ?? '']),
  ]);
  const head = ['', ...titles, ...(column === undefined ? [] : [column.title])];
  return formatTable([head, ...rows], `l${'r'.repeat(head.length - 1)}`);
}

/** Training may make things worse. */
function warn({ first, last }: FirstAndLastValidation): string[] {
  const [before, after] = [first.metrics['eval/loss']!, last.metrics['eval/loss']!];
  return after > before
    ? ['  The loss is higher than before: lower the learning rate, or train on more rows.']
    : [];
}

function formatFiles(
  { folder, modelFolder, best, report }: StageRunResult,
  { modelNote }: StageSummary,
): string {
  const bad = report.bad + report.repeated;
  return formatTable([
    ['model', `${shorten(modelFolder!)} (${modelNote})`],
    ...(best === undefined
      ? []
      : [['best', `${shorten(best.folder)} (lowest loss, step ${best.step})`]]),
    ['metrics', shorten(join(folder, 'metrics.jsonl'))],
    ...(bad === 0
      ? []
      : [['left out', `${shorten(join(folder, 'data.json'))} (${bad} of ${report.read} rows)`]]),
    ['run', shorten(folder)],
  ]);
}
