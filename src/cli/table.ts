import { stripControls, wrapWords } from './terminal.ts';

type Rows = readonly (readonly string[])[];

export interface TableOptions {
  /** Longest line; unlimited by default. */
  readonly width?: number;
}

/** Fewest columns for the text of a wrapped column. */
const MIN_TEXT = 20;
/** Longest label for which numbers are moved into a table below. */
const MAX_LABEL = 24;

/** Formats rows as indented lines with aligned columns: `l` left, `r` right. Control characters are
 *  removed from the cells.
 *
 *  A table that is too wide is wrapped. If its last column is text, that text continues below itself.
 *  Otherwise columns that do not fit become another table below, and a label that is too long has its
 *  own line. Words are never split, so that paths and commands can be copied.
 *  @example [['a', '1'], ['bc', '23']], 'lr'  →  '  a    1\n  bc  23' */
export function formatTable(
  rows: Rows,
  align = 'll',
  { width = Infinity }: TableOptions = {},
): string {
  const plain = rows.map((row) => row.map(stripControls));
  if (tableWidth(plain) <= width) return alignColumns(plain, align);
  return align.endsWith('l')
    ? wrapLastColumn(plain, align, { width })
    : splitColumns(plain, align, { width });
}

/** The longest line of a table that is not wrapped. */
export function tableWidth(rows: Rows): number {
  return columnWidths(rows).reduce((sum, width) => sum + 2 + width, 0);
}

function columnWidths(rows: Rows): number[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
}

/** Aligns cells; a row of one cell is a line of its own. */
function alignColumns(rows: Rows, align: string): string {
  const widths = columnWidths(rows.filter((row) => row.length > 1));
  return rows
    .map((row) => {
      const cells = row.map((cell, column) =>
        align[column] === 'r' ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      );
      return `  ${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}

function wrapLastColumn(rows: Rows, align: string, { width }: Required<TableOptions>): string {
  const last = align.length - 1;
  const start = tableWidth(rows.map((row) => row.slice(0, last))) + 2;
  const room = Math.max(MIN_TEXT, width - start);
  const lines = rows.flatMap((row) => {
    const [first = '', ...more] = wrapWords(row[last] ?? '', { width: room }).split('\n');
    const blanks = row.slice(0, last).map(() => '');
    return [[...row.slice(0, last), first], ...more.map((text) => [...blanks, text])];
  });
  return alignColumns(lines, align);
}

/** Tables below each other that repeat the labels of the first column. */
function splitColumns(rows: Rows, align: string, { width }: Required<TableOptions>): string {
  const [labels = 0, ...numbers] = columnWidths(rows);
  const groups: number[][] = [];
  let room = 0;
  for (const [i, size] of numbers.entries()) {
    if (groups.length === 0 || room < 2 + size) {
      groups.push([]);
      room = width - 2 - Math.min(labels, MAX_LABEL);
    }
    groups.at(-1)!.push(i + 1);
    room -= 2 + size;
  }
  return groups
    .map((columns) => {
      const part = rows.map((row) => [row[0] ?? '', ...columns.map((column) => row[column] ?? '')]);
      const aligned = ['l', ...columns.map((column) => align[column])].join('');
      return alignColumns(separateLongLabels(part, width), aligned);
    })
    .join('\n\n');
}

/** Puts a label that leaves no room for the numbers on its own line. */
function separateLongLabels(rows: Rows, width: number): Rows {
  const room = width - 2 - tableWidth(rows.map((row) => row.slice(1)));
  return rows.flatMap((row) => {
    const [label = '', ...numbers] = row;
    if (label.length <= room) return [row];
    return [[shortenMiddle(label, width - 2)], ['', ...numbers]];
  });
}

/** @example 'abcdefgh', 5  →  'ab…gh' */
function shortenMiddle(text: string, width: number): string {
  if (text.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - end)}…${text.slice(text.length - end)}`;
}
