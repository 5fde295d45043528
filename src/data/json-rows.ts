import { type DataFile, type DataRow, kindOf, textColumn, toRow } from './data-row.ts';
import { type FaultHandler, LineFault, orFault, throwFault } from './line-fault.ts';
import { readLines, readText } from './read-text.ts';

/** Rows of a file with a JSON value on each line; blank lines do not count. */
export async function* readJsonLines(
  file: DataFile,
  onFault: FaultHandler = throwFault,
): AsyncGenerator<DataRow> {
  for await (const { text, number } of readLines(file, onFault)) {
    const origin = `${file.name} line ${number}`;
    if (text.trim() === '') continue;
    const row = orFault(() => toRow(parseJson(text, origin), origin), onFault);
    if (row !== undefined) yield row;
  }
}

/** Rows of a JSON file: a list, or an object in which one value is a list. */
export async function* readJson(
  file: DataFile,
  onFault: FaultHandler = throwFault,
): AsyncGenerator<DataRow> {
  const rows = findList(parseJson(await readText(file), file.name), file.name);
  for (const [i, value] of rows.entries()) {
    const row = orFault(() => toRow(value, `${file.name} row ${i + 1}`), onFault);
    if (row !== undefined) yield row;
  }
}

/** A text for each line that is not blank. */
export async function* readTextLines(
  file: DataFile,
  onFault: FaultHandler = throwFault,
): AsyncGenerator<DataRow> {
  for await (const { text, number } of readLines(file, onFault)) {
    if (text.trim() === '') continue;
    yield { columns: { [textColumn]: text }, origin: `${file.name} line ${number}` };
  }
}

function findList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const fail = (got: string) =>
    new TypeError(`Cannot read ${name}: it must be a list, or an object with one, got ${got}`);
  if (typeof value !== 'object' || value === null) throw fail(kindOf(value));
  const lists = Object.entries(value).filter(([, entry]) => Array.isArray(entry));
  const [list] = lists;
  if (list !== undefined && lists.length === 1) return list[1];
  const keys = lists.map(([key]) => `"${key}"`).join(', ');
  throw fail(lists.length === 0 ? 'an object without one' : `an object with the lists ${keys}`);
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new LineFault(`Cannot read ${origin}: it must be JSON (${message})`, {
      reason: 'invalid-row',
      origin,
      cause,
    });
  }
}
