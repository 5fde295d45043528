import { runInSandbox } from '../fs/index.ts';
import { readCsv, readTsv } from './csv-rows.ts';
import {
  type BadRow,
  catchRowError,
  type DataFile,
  type DataRow,
  kindOf,
  RowError,
  type RowErrorHandler,
  textColumn,
  throwRowError,
  toRow,
} from './data-row.ts';
import { readParquet } from './parquet-rows.ts';
import { readLines, readText, type TextLine } from './read-text.ts';

type RowReader = (file: DataFile, onRowError?: RowErrorHandler) => AsyncGenerator<DataRow>;

/** The reader for each file extension, in order of preference for datasets with several. */
const readers: ReadonlyMap<string, RowReader> = new Map([
  ['.parquet', readParquet],
  ['.jsonl', readJsonLines],
  ['.ndjson', readJsonLines],
  ['.csv', readCsv],
  ['.tsv', readTsv],
  ['.json', readJson],
  ['.txt', readTextLines],
]);

/** The known file extensions, in order of preference. */
export const extensions: readonly string[] = [...readers.keys()];

/** The extension that decides how a file is read; text files may be compressed, as `.jsonl.gz`.
 *  @example 'data/train.jsonl.gz'  →  '.jsonl' */
export function extensionOf(path: string): string | undefined {
  const [, extension, packed] = /(\.[a-z]+)(\.gz)?$/i.exec(path) ?? [];
  const known = extension?.toLowerCase();
  if (known === undefined || !readers.has(known)) return undefined;
  return known === '.parquet' && packed !== undefined ? undefined : known;
}

/** Reads the rows of a file according to its extension. Unreadable rows go to `onRowError`, which
 *  throws by default. Containers, whose size says little about their contents, are parsed in the
 *  sandbox. */
export function readFileRows(
  file: DataFile,
  onRowError?: RowErrorHandler,
): AsyncGenerator<DataRow> {
  const isContainer = /\.(parquet|gz)$/i.test(file.path);
  return isContainer ? readInSandbox(file, { onRowError }) : parseFile(file, onRowError);
}

interface ReadInSandboxOptions {
  readonly onRowError?: RowErrorHandler | undefined;
  /** Milliseconds that the next rows may take; a minute by default. */
  readonly timeLimit?: number;
}

/** Reads the rows of a file of any format in the sandbox, so that nothing in it can end or block this
 *  process. */
export async function* readInSandbox(
  file: DataFile,
  { onRowError = throwRowError, timeLimit }: ReadInSandboxOptions = {},
): AsyncGenerator<DataRow> {
  const action = `Cannot read ${file.name}`;
  const task = { module: import.meta.url, run: parseAllRows, input: file, action, timeLimit };
  for await (const row of runInSandbox(task)) {
    if ('columns' in row) yield row;
    else onRowError(new RowError(row.message, row));
  }
}

/** Parses a file in this thread; unreadable rows are items like the others. */
export async function* parseAllRows(file: DataFile): AsyncGenerator<DataRow | BadRow> {
  const bad: BadRow[] = [];
  const onRowError = ({ reason, origin, message }: RowError) => {
    bad.push({ reason, origin, message });
  };
  for await (const row of parseFile(file, onRowError)) {
    yield* bad.splice(0);
    yield row;
  }
  yield* bad;
}

function parseFile(file: DataFile, onRowError?: RowErrorHandler): AsyncGenerator<DataRow> {
  const extension = extensionOf(file.path);
  if (extension !== undefined) return readers.get(extension)!(file, onRowError);
  throw new TypeError(
    `Cannot read ${file.name}: its name must end in ${extensions.join(', ')}, or a text format followed by .gz; rename or convert it`,
  );
}

/** Reads a file with one JSON value per line; blank lines are skipped. */
export function readJsonLines(
  file: DataFile,
  onRowError: RowErrorHandler = throwRowError,
): AsyncGenerator<DataRow> {
  return parseJsonLines(readLines(file, onRowError), { name: file.name, onRowError });
}

/** How to call rows in errors, and what to do with unreadable ones. */
interface ParseOptions {
  readonly name: string;
  readonly onRowError: RowErrorHandler;
}

/** The rows of lines of JSON. */
export async function* parseJsonLines(
  lines: AsyncIterable<TextLine>,
  { name, onRowError }: ParseOptions,
): AsyncGenerator<DataRow> {
  for await (const { text, number } of lines) {
    const origin = `${name} line ${number}`;
    if (text.trim() === '') continue;
    const row = catchRowError(() => toRow(parseJson(text, origin), origin), onRowError);
    if (row !== undefined) yield row;
  }
}

/** Reads a JSON file: a list, or an object with exactly one list. */
async function* readJson(
  file: DataFile,
  onRowError: RowErrorHandler = throwRowError,
): AsyncGenerator<DataRow> {
  const rows = findList(parseJson(await readText(file), file.name), file.name);
  for (const [i, value] of rows.entries()) {
    const row = catchRowError(() => toRow(value, `${file.name} row ${i + 1}`), onRowError);
    if (row !== undefined) yield row;
  }
}

/** Reads one text per non-blank line. */
async function* readTextLines(
  file: DataFile,
  onRowError: RowErrorHandler = throwRowError,
): AsyncGenerator<DataRow> {
  for await (const { text, number } of readLines(file, onRowError)) {
    if (text.trim() === '') continue;
    yield { columns: { [textColumn]: text }, origin: `${file.name} line ${number}` };
  }
}

function findList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const fail = (got: string) =>
    new TypeError(`Cannot read ${name}: it must be a list or an object with one list, got ${got}`);
  if (typeof value !== 'object' || value === null) throw fail(kindOf(value));
  const lists = Object.entries(value).filter(([, entry]) => Array.isArray(entry));
  const [list] = lists;
  if (list !== undefined && lists.length === 1) return list[1];
  const keys = lists.map(([key]) => `"${key}"`).join(', ');
  throw fail(lists.length === 0 ? 'an object without a list' : `an object with the lists ${keys}`);
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new RowError(`Cannot read ${origin}: it must be JSON (${message})`, {
      reason: 'invalid-row',
      origin,
      cause,
    });
  }
}
