import { CsvError, parse } from 'csv-parse/sync';
import {
  type DataFile,
  type DataRow,
  RowError,
  type RowErrorHandler,
  throwRowError,
} from './data-row.ts';
import { readText } from './read-text.ts';

interface CsvRecord {
  readonly fields: readonly string[];
  /** First line, from 1. */
  readonly line: number;
}

/** What csv-parse returns for each record. */
interface ParsedRecord {
  readonly record: readonly string[];
  /** Its text, with preceding blank lines and without the LF of a CRLF after it. */
  readonly raw: string;
}

/** Reads comma-separated values whose first line has the column names (RFC 4180). */
export function readCsv(file: DataFile, onRowError?: RowErrorHandler): AsyncGenerator<DataRow> {
  return readSeparated(file, { delimiter: ',', onRowError });
}

/** Reads tab-separated values; quotes inside an unquoted field are literal. */
export function readTsv(file: DataFile, onRowError?: RowErrorHandler): AsyncGenerator<DataRow> {
  return readSeparated(file, { delimiter: '\t', onRowError });
}

interface SeparatedOptions {
  readonly delimiter: string;
  readonly onRowError: RowErrorHandler | undefined;
}

async function* readSeparated(
  file: DataFile,
  { delimiter, onRowError = throwRowError }: SeparatedOptions,
): AsyncGenerator<DataRow> {
  const { name } = file;
  const [header, ...records] = parseRecords(await readText(file), { name, delimiter });
  if (header === undefined) return;
  const names = header.fields;
  const duplicate = names.find((column, i) => names.indexOf(column) < i);
  if (duplicate !== undefined) {
    throw new SyntaxError(
      `Cannot read ${name} line ${header.line}: column names must be unique, got "${duplicate}" twice`,
    );
  }
  for (const { fields, line } of records) {
    const origin = `${name} line ${line}`;
    if (fields.length !== names.length) {
      const message = `Cannot read ${origin}: it must have ${names.length} fields like the header, got ${fields.length}; quote fields that contain separators or line ends`;
      onRowError(new RowError(message, { reason: 'invalid-row', origin }));
      continue;
    }
    yield { columns: Object.fromEntries(names.map((column, i) => [column, fields[i]])), origin };
  }
}

function parseRecords(
  text: string,
  { name, delimiter }: { name: string; delimiter: string },
): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  const add = ({ record, raw }: ParsedRecord) => {
    records.push({ fields: record, line: line + countLines(/^[\r\n]*/.exec(raw)![0]) });
    line += countLines(raw);
    return null;
  };
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      relax_column_count: true,
      relax_quotes: delimiter === '\t',
      raw: true,
      on_record: (record) => add(record as unknown as ParsedRecord),
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const got = cause.code === 'CSV_QUOTE_NOT_CLOSED' ? 'one without an end' : 'one inside a field';
    throw new SyntaxError(
      `Cannot read ${name} from line ${line}: quotes must be around whole fields, got ${got}; write a quote inside a quoted field twice`,
      { cause },
    );
  }
  return records;
}

function countLines(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
