import { CsvError, parse } from 'csv-parse/sync';
import type { DataFile, DataRow } from './data-row.ts';
import { type FaultHandler, LineFault, throwFault } from './line-fault.ts';
import { readText } from './read-text.ts';

interface CsvRecord {
  readonly fields: readonly string[];
  /** Where it starts, from 1. */
  readonly line: number;
}

/** What csv-parse gives for each record. */
interface ParsedRecord {
  readonly record: readonly string[];
  /** Its text with blank lines before it and without the LF of a CRLF after it. */
  readonly raw: string;
}

/** Rows of a file with comma-separated values whose first line names the columns (RFC 4180). */
export function readCsv(file: DataFile, onFault?: FaultHandler): AsyncGenerator<DataRow> {
  return readSeparated(file, { delimiter: ',', onFault });
}

/** The same with tabs; quotes inside a field that is not quoted stand for themselves. */
export function readTsv(file: DataFile, onFault?: FaultHandler): AsyncGenerator<DataRow> {
  return readSeparated(file, { delimiter: '\t', onFault });
}

interface SeparatedOptions {
  readonly delimiter: string;
  readonly onFault: FaultHandler | undefined;
}

async function* readSeparated(
  file: DataFile,
  { delimiter, onFault = throwFault }: SeparatedOptions,
): AsyncGenerator<DataRow> {
  const { name } = file;
  const [header, ...records] = parseRecords(await readText(file), { name, delimiter });
  if (header === undefined) return;
  const names = header.fields;
  const twice = names.find((column, i) => names.indexOf(column) < i);
  if (twice !== undefined) {
    throw new SyntaxError(
      `Cannot read ${name} line ${header.line}: each column must have a name of its own, got "${twice}" twice`,
    );
  }
  for (const { fields, line } of records) {
    const origin = `${name} line ${line}`;
    if (fields.length !== names.length) {
      const message = `Cannot read ${origin}: it must have ${names.length} fields as the header, got ${fields.length}; quote fields with separators or line ends in them`;
      onFault(new LineFault(message, { reason: 'invalid-row', origin }));
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
