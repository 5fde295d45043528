import { type Interval, proportionInterval } from '../columns/index.ts';
import type { Performance } from '../loop/evaluation-report.ts';
import type { Metrics } from '../loop/records.ts';
import { count } from '../run/run-data.ts';
import { formatNumber, formatPercent } from './format.ts';
import { formatTable, tableWidth } from './table.ts';
import { indentedText } from './terminal.ts';

/** An evaluation to show in a column. */
export interface EvaluationColumn {
  readonly metrics: Metrics;
  /** PPO only. */
  readonly performance?: Performance | undefined;
}

/** A column besides evaluations, such as the accuracy of a simple rule. */
export interface ExtraColumn {
  readonly title: string;
  /** Its cells by the label of their row. */
  readonly cells: Readonly<Record<string, string>>;
}

/** What an evaluation was measured on. */
export interface EvaluatedCases {
  readonly number: number;
  /** Singular. */
  readonly noun: string;
}

interface Row {
  readonly label: string;
  readonly metric: string;
  readonly format: (value: number) => string;
  /** The 95 % interval of the value; empty without one. */
  readonly interval?: (value: number, about: IntervalInput) => string;
}

interface IntervalInput {
  readonly performance: Performance | undefined;
  /** Number of cases. */
  readonly number: number;
}

/** The rows of an evaluation. A run has those of its kind only. */
const rows: readonly Row[] = [
  {
    ...{ label: 'reward', metric: 'eval/reward', format: formatNumber },
    interval: (_, { performance }) => formatInterval(performance?.rewardInterval, formatNumber),
  },
  { label: 'reward, greedy', metric: 'eval/greedy_reward', format: formatNumber },
  { label: 'reward, best of n', metric: 'eval/best_of_n', format: formatNumber },
  {
    ...{ label: 'win rate over reference', metric: 'eval/win_rate', format: formatPercent },
    interval: (_, { performance }) => formatInterval(performance?.winRateInterval, formatPoints),
  },
  { label: 'finished responses', metric: 'eval/finished_rate', format: formatPercent },
  { label: 'KL from reference', metric: 'eval/kl', format: formatNumber },
  { label: 'entropy', metric: 'eval/entropy', format: formatNumber },
  { label: 'length in tokens', metric: 'eval/length', format: formatNumber },
  { label: 'repeated 3-grams', metric: 'eval/repetition', format: formatPercent },
  { label: 'loss', metric: 'eval/loss', format: formatNumber },
  { label: 'perplexity', metric: 'eval/perplexity', format: formatNumber },
  {
    ...{ label: 'accuracy', metric: 'eval/accuracy', format: formatPercent },
    interval: (rate, { number }) => formatInterval(proportionInterval(rate, number), formatPoints),
  },
  { label: 'margin', metric: 'eval/margin', format: formatNumber },
  { label: 'calibration error', metric: 'eval/calibration', format: formatNumber },
];

/** A percentage without its sign. */
function formatPoints(fraction: number): string {
  return (100 * fraction).toFixed(1);
}

/** @example [0.25, 0.75] as percentages  →  '[25.0, 75.0]'; NaN  →  '' */
function formatInterval(interval: Interval | undefined, format: (value: number) => string): string {
  if (interval === undefined || !interval.every(Number.isFinite)) return '';
  return `[${format(interval[0])}, ${format(interval[1])}]`;
}

/** Fewer cases than this say little: the interval of a rate of one half is ±20 % at 20. */
const MIN_CASES = 20;

interface FormatEvaluationsOptions {
  readonly extra?: ExtraColumn | undefined;
  readonly cases: EvaluatedCases | undefined;
  /** Longest line. */
  readonly width: number;
}

/** Evaluations side by side under their titles, with what the brackets mean and a warning if there
 *  are few cases. In a narrow terminal intervals have their own rows, and titles two lines. */
export function formatEvaluations(
  columns: Readonly<Record<string, EvaluationColumn>>,
  { extra, cases, width }: FormatEvaluationsOptions,
): string {
  const evaluations = Object.values(columns);
  const isMeasured = ({ metric }: Row) => evaluations.some(({ metrics }) => metric in metrics);
  const input = { evaluations, extra, number: cases?.number ?? Number.NaN };
  const titles = [...Object.keys(columns), ...(extra === undefined ? [] : [extra.title])];
  const fixed = rows.filter(isMeasured);
  const isNarrow =
    tableWidth([['', ...titles], ...fixed.flatMap((row) => inlineCells(row, input))]) > width;
  const [reward, ...others] = rows;
  const shown = [reward!, ...sourceRows(evaluations), ...others].filter(isMeasured);
  const table = [
    ...(isNarrow ? splitTitles(titles) : [['', ...titles]]),
    ...shown.flatMap((row) => (isNarrow ? separateCells(row, input) : inlineCells(row, input))),
  ];
  const hasBrackets = !isNarrow && table.some((cells) => cells.some((cell) => cell.includes('[')));
  return [
    formatTable(table, `l${'r'.repeat(titles.length)}`, { width }),
    ...(hasBrackets ? ['  Brackets are 95 % intervals.'] : []),
    ...warnOfFewCases(cases).map((sentence) => indentedText(sentence, width)),
  ].join('\n');
}

interface CellsInput {
  readonly evaluations: readonly EvaluationColumn[];
  readonly extra: ExtraColumn | undefined;
  readonly number: number;
}

/** Each value followed by its interval. */
function inlineCells(row: Row, input: CellsInput): string[][] {
  const [values, intervals] = [valuesOf(row, input), intervalsOf(row, input)];
  const cells = values.map((value, i) => [value, intervals[i]].filter(Boolean).join(' '));
  return [[row.label, ...cells]];
}

/** Intervals in a row below their values. */
function separateCells(row: Row, input: CellsInput): string[][] {
  const [values, intervals] = [valuesOf(row, input), intervalsOf(row, input)];
  const isEmpty = intervals.every((interval) => interval === '');
  return [[row.label, ...values], ...(isEmpty ? [] : [['  95 % interval', ...intervals]])];
}

function valuesOf({ label, metric, format }: Row, { evaluations, extra }: CellsInput): string[] {
  const values = evaluations.map(({ metrics }) => {
    const value = metrics[metric];
    return value === undefined ? '–' : format(value);
  });
  return [...values, ...(extra === undefined ? [] : [extra.cells[label] ?? ''])];
}

function intervalsOf({ metric, interval }: Row, { evaluations, number }: CellsInput): string[] {
  return evaluations.map(({ metrics, performance }) => {
    const value = metrics[metric];
    return value === undefined ? '' : (interval?.(value, { performance, number }) ?? '');
  });
}

/** @example ['before (step 0)', 'policy']  →  ['', 'before', 'policy'], ['', '(step 0)', ''] */
function splitTitles(titles: readonly string[]): string[][] {
  const parts = titles.map((title) => title.split(' (') as [string, string?]);
  const notes = parts.map(([, note]) => (note === undefined ? '' : `(${note}`));
  const names = ['', ...parts.map(([name]) => name)];
  return notes.every((note) => note === '') ? [names] : [names, ['', ...notes]];
}

/** A row for each reward source, unless there is one that is the whole reward. */
function sourceRows(evaluations: readonly EvaluationColumn[]): Row[] {
  const names = new Set(
    evaluations.flatMap(({ performance }) => Object.keys(performance?.rewards ?? {})),
  );
  const isWhole = evaluations.every(({ performance }) =>
    Object.values(performance?.rewards ?? {}).every(({ mean }) => mean === performance!.reward),
  );
  if (names.size < 2 && isWhole) return [];
  return [...names].map((name) => ({
    label: `  of ${name}`,
    metric: `eval/rewards/${name}/mean`,
    format: formatNumber,
  }));
}

function warnOfFewCases(cases: EvaluatedCases | undefined): string[] {
  if (cases === undefined || cases.number >= MIN_CASES) return [];
  const { number, noun } = cases;
  return [
    `Measured on only ${count(number, noun)}: small differences are chance; validate on at least ${MIN_CASES}.`,
  ];
}
