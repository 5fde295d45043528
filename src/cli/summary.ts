import { join } from 'node:path';
import { type Interval, proportionInterval } from '../columns/index.ts';
import type { EvaluationReport, Performance } from '../loop/evaluation-report.ts';
import type { Metrics } from '../loop/records.ts';
import { count } from '../run/run-data.ts';
import type { RunEvaluation, RunEvaluations, RunResult } from '../run/run-training.ts';
import type { RunData } from '../run/sft-run.ts';
import { formatNumber, formatPercent, formatSeconds, shortPath } from './format.ts';
import { describeHumanEvaluation } from './human-evaluation.ts';
import { commandLine } from './program-command.ts';
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
  /** Commands to run next, without the program's name. */
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
  const cases = evaluations && countCases(evaluations.last, items);
  const on = cases === undefined ? '' : ` on ${count(cases.number, cases.noun)}`;
  const samples = evaluations?.model.report?.samples ?? [];
  return [
    `${message}. ${count(steps, 'step')} in ${formatSeconds(seconds)}.`,
    formatSections(
      [[`Validation${on}`, describeEvaluations(result, { ...details, cases })]],
      output,
    ),
    ...formatSamples(samples, output),
    ...formatHuman(result, output),
    formatSections(
      [
        ['Files', formatFiles(result, details)],
        ['Next', details.next.map((args) => `  ${commandLine(args)}`).join('\n')],
      ],
      output,
    ),
  ].join('\n\n');
}

/** What an evaluation was measured on. */
interface EvaluatedCases {
  readonly number: number;
  /** Singular. */
  readonly noun: string;
}

/** PPO evaluates on prompts, the other kinds on the items of their data. */
function countCases(
  { report }: RunEvaluation,
  items: SummaryResult['items'],
): EvaluatedCases | undefined {
  if (report !== undefined) return { number: report.performance.prompts, noun: 'prompt' };
  return items && { number: items.validation, noun: items.unit.slice(0, -1) };
}

function formatHuman({ human }: Pick<RunResult, 'human'>, output: Output): string[] {
  if (human.length === 0) return [];
  const lines = human.map((row) => `  ${describeHumanEvaluation(row)}`);
  return [formatSections([['Human evaluation', lines.join('\n')]], output)];
}

function describeEvaluations(
  { evaluations, model }: SummaryResult,
  details: SummaryDetails & { readonly cases: EvaluatedCases | undefined },
): string {
  const choice = model === undefined ? [] : [`  ${model.message}.`];
  if (evaluations === undefined) {
    return ['  none: there was nothing to evaluate on', ...choice].join('\n');
  }
  const { column, cases, notes = [] } = details;
  return [
    formatEvaluations(titleColumns(evaluations), { extra: column, cases }),
    ...choice,
    ...warnOfHigherLoss(evaluations),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

/** The different evaluations among the first, the saved model's and the last, under their titles. */
function titleColumns({ first, model, last }: RunEvaluations): Record<string, EvaluationColumn> {
  if (first.step === last.step) return { [`step ${last.step}`]: toColumn(last) };
  if (model.step === last.step) {
    return {
      [`before (step ${first.step})`]: toColumn(first),
      [`after (step ${last.step})`]: toColumn(last),
    };
  }
  return {
    ...(model.step === first.step ? {} : { [`before (step ${first.step})`]: toColumn(first) }),
    [`model (step ${model.step})`]: toColumn(model),
    [`last (step ${last.step})`]: toColumn(last),
  };
}

function toColumn({ metrics, report }: RunEvaluation): EvaluationColumn {
  return { metrics, performance: report?.performance };
}

function warnOfHigherLoss({ first, last }: RunEvaluations): string[] {
  const [before, after] = [first.metrics['eval/loss'], last.metrics['eval/loss']];
  return before !== undefined && after !== undefined && after > before
    ? ['  The loss is higher than before: lower the learning rate or train on more rows.']
    : [];
}

/** An evaluation to show in a column. */
export interface EvaluationColumn {
  readonly metrics: Metrics;
  /** PPO only. */
  readonly performance?: Performance | undefined;
}

type CellFormat = (value: number, column: EvaluationColumn & { readonly number: number }) => string;

/** The rows of an evaluation: label, metric and format. A run has those of its kind only. */
const rows: readonly (readonly [string, string, CellFormat])[] = [
  [
    'reward',
    'eval/reward',
    (reward, { performance }) =>
      `${formatNumber(reward)}${formatInterval(performance?.rewardInterval, formatNumber)}`,
  ],
  ['reward, greedy', 'eval/greedy_reward', formatNumber],
  ['reward, best of n', 'eval/best_of_n', formatNumber],
  [
    'win rate over reference',
    'eval/win_rate',
    (rate, { performance }) =>
      `${formatPercent(rate)}${formatInterval(performance?.winRateInterval, formatPoints)}`,
  ],
  ['finished responses', 'eval/finished_rate', formatPercent],
  ['KL from reference', 'eval/kl', formatNumber],
  ['entropy', 'eval/entropy', formatNumber],
  ['length in tokens', 'eval/length', formatNumber],
  ['repeated 3-grams', 'eval/repetition', formatPercent],
  ['loss', 'eval/loss', formatNumber],
  ['perplexity', 'eval/perplexity', formatNumber],
  [
    'accuracy',
    'eval/accuracy',
    (rate, { number }) =>
      `${formatPercent(rate)}${formatInterval(proportionInterval(rate, number), formatPoints)}`,
  ],
  ['margin', 'eval/margin', formatNumber],
  ['calibration error', 'eval/calibration', formatNumber],
];

/** A percentage without its sign. */
function formatPoints(fraction: number): string {
  return (100 * fraction).toFixed(1);
}

/** @example [0.25, 0.75] as percentages  →  ' [25.0, 75.0]'; NaN  →  '' */
function formatInterval(interval: Interval | undefined, format: (value: number) => string): string {
  if (interval === undefined || !interval.every(Number.isFinite)) return '';
  return ` [${format(interval[0])}, ${format(interval[1])}]`;
}

/** Fewer cases than this say little: the interval of a rate of one half is ±20 % at 20. */
const MIN_CASES = 20;

interface FormatEvaluationsOptions {
  readonly extra?: SummaryDetails['column'];
  readonly cases: EvaluatedCases | undefined;
}

/** Evaluations side by side under their titles, with what the brackets mean and a warning if there
 *  are few cases. */
export function formatEvaluations(
  columns: Readonly<Record<string, EvaluationColumn>>,
  { extra, cases }: FormatEvaluationsOptions,
): string {
  const evaluations = Object.values(columns);
  const number = cases?.number ?? Number.NaN;
  const [reward, ...others] = rows;
  const table = [reward!, ...sourceRows(evaluations), ...others]
    .filter(([, name]) => evaluations.some(({ metrics }) => name in metrics))
    .map(([label, name, format]) => [
      label,
      ...evaluations.map((column) => {
        const value = column.metrics[name];
        return value === undefined ? '–' : format(value, { ...column, number });
      }),
      ...(extra === undefined ? [] : [extra.cells[label] ?? '']),
    ]);
  const head = ['', ...Object.keys(columns), ...(extra === undefined ? [] : [extra.title])];
  const hasIntervals = table.some((cells) => cells.some((cell) => cell.includes('[')));
  return [
    formatTable([head, ...table], `l${'r'.repeat(head.length - 1)}`),
    ...(hasIntervals ? ['  Brackets are 95 % intervals.'] : []),
    ...warnOfFewCases(cases),
  ].join('\n');
}

/** A row for each reward source, unless there is one that is the whole reward. */
function sourceRows(evaluations: readonly EvaluationColumn[]): (typeof rows)[number][] {
  const names = new Set(
    evaluations.flatMap(({ performance }) => Object.keys(performance?.rewards ?? {})),
  );
  const isWhole = evaluations.every(({ performance }) =>
    Object.values(performance?.rewards ?? {}).every(({ mean }) => mean === performance!.reward),
  );
  if (names.size < 2 && isWhole) return [];
  return [...names].map((name) => [`  of ${name}`, `eval/rewards/${name}/mean`, formatNumber]);
}

function warnOfFewCases(cases: EvaluatedCases | undefined): string[] {
  if (cases === undefined || cases.number >= MIN_CASES) return [];
  const { number, noun } = cases;
  return [
    `  Measured on only ${count(number, noun)}: small differences are chance; validate on at least ${MIN_CASES}.`,
  ];
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
  { folder, modelFolder, lastFolder, steps, report }: SummaryResult,
  { modelNote }: SummaryDetails,
): string {
  const leftOut = report === undefined ? 0 : report.bad + report.repeated;
  return formatTable([
    ['model', `${shortPath(modelFolder!)} (${modelNote})`],
    ...(lastFolder === undefined
      ? []
      : [['last', `${shortPath(lastFolder)} (after the last step, ${steps})`]]),
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
