import { type DataRow, kindOf, listColumns } from './data-row.ts';
import { checkMessages, type Turn } from './line-chat.ts';
import { type BadRowReason, LineFault } from './line-fault.ts';
import { fillTemplate } from './prompt-format.ts';

/** A fault of a row, as `Cannot read pairs.jsonl line 7: …`. */
export function rowFault(
  { origin }: DataRow,
  { reason, fault }: { readonly reason: BadRowReason; readonly fault: string },
): LineFault {
  return new LineFault(`Cannot read ${origin}: ${fault}`, { reason, origin });
}

/** Whether a row says something in a column; null, which Parquet has for nothing, does not. */
export function hasColumn({ columns }: DataRow, column: string): boolean {
  return columns[column] !== undefined && columns[column] !== null;
}

/** Asks for columns and names those that are not there. */
export function expectColumns(row: DataRow, columns: readonly string[]): void {
  const missing = columns.filter((column) => !hasColumn(row, column));
  if (missing.length === 0) return;
  const names = missing.map((column) => `"${column}"`).join(' and ');
  throw rowFault(row, {
    reason: 'missing-column',
    fault: `it must have ${names}, got ${listColumns(row)}`,
  });
}

/** A column's text or messages. */
export function readTurn(row: DataRow, column: string): Turn {
  expectColumns(row, [column]);
  return toTurn(row.columns[column], { row, column });
}

/** A column's list of texts or messages. */
export function readTurns(row: DataRow, column: string): readonly Turn[] {
  const value = row.columns[column];
  if (!Array.isArray(value)) {
    throw rowFault(row, {
      reason: 'wrong-type',
      fault: `"${column}" must be a list, got ${kindOf(value)}`,
    });
  }
  return value.map((entry) => toTurn(entry, { row, column }));
}

export interface PromptPlace {
  readonly promptColumn?: string | undefined;
  readonly template?: string | undefined;
}

export const usualPromptColumn = 'prompt';

/** Whether a row says what its prompt is. */
export function hasPrompt(row: DataRow, { promptColumn, template }: PromptPlace): boolean {
  return template !== undefined || hasColumn(row, promptColumn ?? usualPromptColumn);
}

/** The prompt of a row: its column, or a template filled from other columns. */
export function readPrompt(row: DataRow, { promptColumn, template }: PromptPlace): Turn {
  return template === undefined
    ? readTurn(row, promptColumn ?? usualPromptColumn)
    : fillTemplate(template, row);
}

/** A column's number, also where it stands as text, as in CSV; undefined if there is none.
 *  @example { margin: '0.5' }, 'margin'  →  0.5 */
export function readNumber(row: DataRow, column: string): number | undefined {
  if (!hasColumn(row, column)) return undefined;
  const value = row.columns[column];
  if (value === '') return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  const got = typeof value === 'string' ? JSON.stringify(value) : kindOf(value);
  throw rowFault(row, { reason: 'wrong-type', fault: `"${column}" must be a number, got ${got}` });
}

/** Holds all rows of a source to the layout of the first. */
export class LayoutGuard {
  private first: { readonly layout: string; readonly origin: string } | undefined;

  /** @param layout what the row holds, to follow "hold": `pairs of texts` */
  expect(layout: string, row: DataRow): void {
    this.first ??= { layout, origin: row.origin };
    if (this.first.layout === layout) return;
    throw rowFault(row, {
      reason: 'mixed-formats',
      fault: `it must hold ${this.first.layout} as ${this.first.origin}, got ${layout}; put other rows in a file of their own`,
    });
  }
}

function toTurn(
  value: unknown,
  { row, column }: { readonly row: DataRow; readonly column: string },
): Turn {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return checkMessages(value, { origin: row.origin, column });
  throw rowFault(row, {
    reason: 'wrong-type',
    fault: `"${column}" must be text or a list of messages, got ${kindOf(value)}`,
  });
}
