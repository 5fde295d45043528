import { LineFault } from './line-fault.ts';

/** One row of a data set. */
export interface DataRow {
  readonly columns: Readonly<Record<string, unknown>>;
  /** Where it stands, as errors say it: `prompts.jsonl line 7`. */
  readonly origin: string;
}

/** A file with rows. */
export interface DataFile {
  readonly path: string;
  /** What errors call it. */
  readonly name: string;
}

/** Where text has no column of its own. */
export const textColumn = 'text';

/** A row of a value in JSON: an object is its columns, a string is a text.
 *  @example 'Hello'  →  { text: 'Hello' } */
export function toRow(value: unknown, origin: string): DataRow {
  if (typeof value === 'string') return { columns: { [textColumn]: value }, origin };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { columns: value as Readonly<Record<string, unknown>>, origin };
  }
  throw new LineFault(
    `Cannot read ${origin}: it must be an object or a string, got ${kindOf(value)}`,
    { reason: 'invalid-row', origin },
  );
}

/** A row's columns, to follow "got" in errors.
 *  @example { a: 1, b: 2 }  →  '"a", "b"' */
export function listColumns({ columns }: DataRow): string {
  const names = Object.keys(columns).map((name) => `"${name}"`);
  return names.join(', ') || 'none';
}

/** What a value is, to follow "got" in errors. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
