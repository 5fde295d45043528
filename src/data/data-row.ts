/** One row of a data set. */
export interface DataRow {
  readonly columns: Readonly<Record<string, unknown>>;
  /** Position of the row for errors, such as `prompts.jsonl line 7`. */
  readonly origin: string;
}

/** A file with rows. */
export interface DataFile {
  readonly path: string;
  /** The name of the file in errors. */
  readonly name: string;
}

/** The column of text without a column name. */
export const textColumn = 'text';

/** Converts a JSON value to a row: an object has the columns, a string is the text.
 *  @example 'Hello'  →  { text: 'Hello' } */
export function toRow(value: unknown, origin: string): DataRow {
  if (typeof value === 'string') return { columns: { [textColumn]: value }, origin };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { columns: value as Readonly<Record<string, unknown>>, origin };
  }
  throw new RowError(
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

/** The kind of a value, to follow "got" in errors. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

/** Why a row cannot be used. */
export type BadRowReason =
  | 'invalid-utf8'
  | 'invalid-row'
  | 'missing-column'
  | 'wrong-type'
  | 'mixed-formats'
  | 'empty-prompt'
  | 'empty-completion'
  | 'equal-sides'
  | 'out-of-range'
  | 'chat-template'
  | 'too-long';

/** A row that could not be used. */
export interface BadRow {
  readonly reason: BadRowReason;
  /** Position of the row, such as `pairs.jsonl line 7`. */
  readonly origin: string;
  /** The error message. */
  readonly message: string;
}

interface RowErrorOptions extends Pick<BadRow, 'reason' | 'origin'> {
  readonly cause?: unknown;
}

/** An unusable row; the rows after it can still be read. */
export class RowError extends Error {
  override readonly name = 'RowError';
  readonly reason: BadRowReason;
  readonly origin: string;

  constructor(message: string, { reason, origin, cause }: RowErrorOptions) {
    super(message, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.origin = origin;
  }
}

/** Handles an unusable row; reading continues with the next row unless it throws. */
export type RowErrorHandler = (problem: RowError) => void;

export const throwRowError: RowErrorHandler = (error) => {
  throw error;
};

/** The result of `read`, or undefined if it throws a RowError. */
export function catchRowError<T>(read: () => T, onRowError: RowErrorHandler): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    onRowError(error);
    return undefined;
  }
}

/** The index, from 0, of the first byte that is not valid UTF-8.
 *  @example 61 C3 A4 FF 62  →  3
 *  @example 61 E2 82        →  1, because the last character is incomplete */
export function findInvalidUtf8(bytes: Uint8Array): number {
  const replacement = [0xef, 0xbf, 0xbd];
  const decoded = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const i = decoded.findIndex((byte, at) => byte !== bytes[at]);
  // Invalid bytes may start with the same bytes as the replacement character.
  return i - replacement.indexOf(decoded[i]!);
}
