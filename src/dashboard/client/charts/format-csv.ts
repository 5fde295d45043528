import { alignSeries, type Points } from './align-series.ts';

export interface NamedPoints extends Points {
  readonly name: string;
}

/** Series as CSV (RFC 4180): a line for each step, an empty cell where a series has no number.
 *  @example kl [0.5] at step 1  →  'step,kl\r\n1,0.5\r\n' */
export function formatCsv(series: readonly NamedPoints[]): string {
  const { steps, columns } = alignSeries(series);
  const head = ['step', ...series.map(({ name }) => formatCell(name))];
  const lines = steps.map((step, row) => [step, ...columns.map((column) => column[row] ?? '')]);
  return [head, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** Text as a cell that no spreadsheet takes for a formula. */
function formatCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
