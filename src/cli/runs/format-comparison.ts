import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { shorten } from '../train/shorten.ts';
import { formatSeconds } from '../units.ts';
import { formatStart } from './format-runs.ts';
import type { ComparedNumber, RunComparison } from './run-comparison.ts';
import type { RunRow } from './run-row.ts';

/** Longest text of a setting that is shown whole. */
const LONGEST = 40;

/** Runs side by side for people. */
export function formatComparison(comparison: RunComparison, output: Output): string {
  const { runs, metrics, evaluation, config } = comparison;
  const isPair = runs.length === 2;
  const names = runs.map(({ name }) => oneLine(name));
  const align = `l${'r'.repeat(runs.length + Number(isPair))}`;
  const numbers = (rows: readonly ComparedNumber[]) =>
    formatTable(
      [['', ...names, ...(isPair ? ['difference'] : [])], ...rows.map((row) => cells(row, isPair))],
      align,
    );
  const settings = [
    ['', ...names],
    ...config.map(({ key, values }) => [key, ...values.map(showSetting)]),
  ];
  const sections: readonly (readonly [string, string | undefined])[] = [
    ['Runs', formatTable([['', ...names], ...describeRuns(runs)], align)],
    ['Last step', metrics.length > 0 ? numbers(metrics) : undefined],
    ['Last evaluation', evaluation.length > 0 ? numbers(evaluation) : undefined],
    ['Settings that differ', config.length > 0 ? formatTable(settings, align) : '  none'],
  ];
  return sections
    .flatMap(([title, body]) => (body === undefined ? [] : [`${bold(title, output)}\n${body}`]))
    .join('\n\n');
}

function describeRuns(runs: readonly RunRow[]): string[][] {
  const row = (name: string, show: (run: RunRow) => string) => [name, ...runs.map(show)];
  return [
    row('kind', ({ kind }) => kind),
    row('status', ({ status }) => status),
    row('step', ({ step, totalSteps }) => `${step}${totalSteps === null ? '' : `/${totalSteps}`}`),
    row('started', ({ startedAt }) => formatStart(startedAt)),
    row('time', ({ seconds }) => (seconds === null ? '–' : formatSeconds(seconds))),
  ];
}

function cells({ name, values }: ComparedNumber, isPair: boolean): string[] {
  const shown = values.map((value) => (value === null ? '–' : showExactly(value)));
  return [oneLine(name), ...shown, ...(isPair ? [showDifference(values)] : [])];
}

/** @example [1, 1.5]  →  '+0.5', [1, 1]  →  '' */
function showDifference([a, b]: readonly (number | null)[]): string {
  if (a == null || b == null || a === b) return '';
  return `${b > a ? '+' : ''}${showExactly(b - a)}`;
}

/** A number in four digits, also where it is small, as rates are.
 *  @example 0.0000123456  →  '0.00001235' */
function showExactly(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function showSetting(value: string | undefined): string {
  if (value === undefined) return '–';
  const text = oneLine(shorten(value));
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
