import { join } from 'node:path';
import type { EvaluationReport } from '../loop/evaluation-report.ts';
import type { Metrics } from '../loop/records.ts';
import { count } from '../run/run-data.ts';
import type { RunEvaluations, RunResult } from '../run/run-training.ts';
import type { RunData } from '../run/sft-run.ts';
import { formatNumber, formatPercent, formatSeconds, shortPath } from './format.ts';
import { bold, dim, formatSections, formatTable, type Output, oneLine } from './terminal.ts';

/** What a command adds to the summary of its run. */
export interface SummaryDetails {
  /** What the model folder contains, in parentheses. */
  readonly modelNote: string;
  /** An extra column, such as the accuracy of a simple rule. */
  readonly column?:
    | { readonly title: string; readonly cells: Readonly<Record<string, string>> }
    | undefined;
  /** More sentences about the evaluation. */
  readonly notes?: readonly string[];
  /** Commands to run next. */
  readonly next: readonly string[];
}

export interface SummaryContext {
  /** Since the command started. */
  readonly seconds: number;
  readonly output: Output;
}

type SummaryResult = RunResult & Partial<RunData>;

/** Summarises a run that was not interrupted: numbers before and after, samples, files, and what to do
 *  next. */
export function formatSummary(
  result: SummaryResult,
  { seconds, output, ...details }: SummaryDetails & SummaryContext,
): string {
  const { steps, message, evaluations, items } = result;
  const on = items && evaluations ? ` on ${count(items.validation, items.unit.slice(0, -1))}` : '';
  const samples = evaluations?.last.report?.samples ?? [];
  return [
    `${message}. ${count(steps, 'step')} in ${formatSeconds(seconds)}.`,
    formatSections([[`Validation${on}`, describeEvaluations(evaluations, details)]], output),
    ...formatSamples(samples, output),
    formatSections(
      [
        ['Files', formatFiles(result, details)],
        ['Next', details.next.map((line) => `  ${line}`).join('\n')],
      ],
      output,
    ),
  ].join('\n\n');
}

function describeEvaluations(
  evaluations: RunEvaluations | undefined,
  { column, notes = [] }: SummaryDetails,
): string {
  if (evaluations === undefined) return '  none: there was nothing to evaluate on';
  const { first, last } = evaluations;
  const columns: Record<string, Metrics> =
    first.step === last.step
      ? { [`step ${last.step}`]: last.metrics }
      : {
          [`before (step ${first.step})`]: first.metrics,
          [`after (step ${last.step})`]: last.metrics,
        };
  return [
    formatEvaluations(columns, column),
    ...warnOfHigherLoss(evaluations),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

function warnOfHigherLoss({ first, last }: RunEvaluations): string[] {
  const [before, after] = [first.metrics['eval/loss'], last.metrics['eval/loss']];
  return before !== undefined && after !== undefined && after > before
    ? ['  The loss is higher than before: lower the learning rate or train on more rows.']
    : [];
}

/** The rows of an evaluation: label, metric and format. A run has those of its kind only. */
const rows: readonly (readonly [string, string, (value: number, metrics: Metrics) => string])[] = [
  [
    'reward',
    'eval/reward',
    (reward, metrics) => `${formatNumber(reward)} ± ${formatNumber(metrics['eval/reward_std'])}`,
  ],
  ['reward, greedy', 'eval/greedy_reward', formatNumber],
  ['reward, best of n', 'eval/best_of_n', formatNumber],
  ['win rate over reference', 'eval/win_rate', formatPercent],
  ['KL from reference', 'eval/kl', formatNumber],
  ['entropy', 'eval/entropy', formatNumber],
  ['length in tokens', 'eval/length', formatNumber],
  ['repeated 3-grams', 'eval/repetition', formatPercent],
  ['loss', 'eval/loss', formatNumber],
  ['perplexity', 'eval/perplexity', formatNumber],
  ['accuracy', 'eval/accuracy', formatPercent],
  ['margin', 'eval/margin', formatNumber],
  ['calibration error', 'eval/calibration', formatNumber],
];

/** Evaluations side by side under their titles. */
export function formatEvaluations(
  columns: Readonly<Record<string, Metrics>>,
  extra?: SummaryDetails['column'],
): string {
  const evaluations = Object.values(columns);
  const table = rows
    .filter(([, name]) => evaluations.some((metrics) => name in metrics))
    .map(([label, name, format]) => [
      label,
      ...evaluations.map((metrics) => (name in metrics ? format(metrics[name]!, metrics) : '–')),
      ...(extra === undefined ? [] : [extra.cells[label] ?? '']),
    ]);
  const head = ['', ...Object.keys(columns), ...(extra === undefined ? [] : [extra.title])];
  return formatTable([head, ...table], `l${'r'.repeat(head.length - 1)}`);
}

const MAX_SAMPLES = 2;
/** Columns before the text of a sample. */
const SAMPLE_INDENT = 24;

/** Greedy responses of reference and policy to the first prompts. */
export function formatSamples(samples: EvaluationReport['samples'], output: Output): string[] {
  const width = Math.max(20, (output.columns || 100) - SAMPLE_INDENT);
  const show = (text: string) => oneLine(text, width) || '(empty)';
  return samples.slice(0, MAX_SAMPLES).map((sample, i) => {
    const { prompt, refResponse, refScore, response, score } = sample;
    const table = formatTable(
      [
        ['prompt', '', show(prompt)],
        ['reference', formatNumber(refScore), show(refResponse)],
        ['policy', formatNumber(score), show(response)],
      ],
      'lrl',
    );
    const note = dim('(greedy, with scores)', output);
    return `${bold(`Sample ${i + 1}`, output)} ${note}\n${table}`;
  });
}

function formatFiles(
  { folder, modelFolder, best, report }: SummaryResult,
  { modelNote }: SummaryDetails,
): string {
  const leftOut = report === undefined ? 0 : report.bad + report.repeated;
  return formatTable([
    ['model', `${shortPath(modelFolder!)} (${modelNote})`],
    ...(best === undefined
      ? []
      : [['best', `${shortPath(best.folder)} (best evaluation, step ${best.step})`]]),
    ['metrics', shortPath(join(folder, 'metrics.jsonl'))],
    ...(leftOut === 0
      ? []
      : [
          [
            'left out',
            `${shortPath(join(folder, 'data.json'))} (${leftOut} of ${report!.read} rows)`,
          ],
        ]),
    ['run', shortPath(folder)],
  ]);
}
