import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { splitLines } from '../fs/index.ts';
import {
  catchRowError,
  type DataFile,
  findInvalidUtf8,
  RowError,
  type RowErrorHandler,
  throwRowError,
} from './data-row.ts';

/** A line without its line end. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

const lineFeed = 0x0a;
const mebi = 2 ** 20;
/** Most bytes of a line: lines are in memory one at a time. */
const maxLine = 64 * mebi;
/** Most bytes of a text that is read as a whole: a string cannot be longer. */
const maxText = 512 * mebi - 24;
/** Most that the text of a compressed file may exceed the file. Data sets stay below 50 times. */
const maxRatio = 200;
/** Bytes that every compressed file may have. */
const minAllowance = 64 * mebi;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the lines of a text file one at a time; they end with LF, CRLF or the end of the file. Other
 *  line separators of Unicode are part of a line. */
export function readLines(
  file: DataFile,
  onRowError: RowErrorHandler = throwRowError,
): AsyncGenerator<TextLine> {
  return decodeLines(readChunks(file), { name: file.name, onRowError });
}

/** How to call a text in errors, and what to do with unreadable rows. */
interface DecodeOptions {
  readonly name: string;
  readonly onRowError: RowErrorHandler;
}

/** The lines of a text in UTF-8. */
export async function* decodeLines(
  chunks: AsyncIterable<Buffer>,
  { name, onRowError }: DecodeOptions,
): AsyncGenerator<TextLine> {
  let number = 0;
  const origin = () => `${name} line ${number + 1}`;
  for await (const { bytes } of splitLines(limitLines(chunks, origin))) {
    number++;
    const decoded = catchRowError(() => decodeLine(bytes, `${name} line ${number}`), onRowError);
    if (decoded === undefined) continue;
    const text = decoded.replace(/\r$/, '');
    yield { text: number === 1 ? withoutMark(text) : text, number };
  }
}

/** Reads a whole text file without its byte order mark. */
export async function readText(file: DataFile): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(file)) {
    size += chunk.length;
    if (size > maxText) {
      throw new RangeError(
        `Cannot read ${file.name}: a text that is read as a whole must have at most ${Math.ceil(maxText / mebi)} MiB, got more; convert it to .jsonl, which is read line by line`,
      );
    }
    chunks.push(chunk);
  }
  return withoutMark(decodeFile(Buffer.concat(chunks), file.name));
}

/** Passes chunks on until a line is too long. */
async function* limitLines(
  chunks: AsyncIterable<Buffer>,
  origin: () => string,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed);
    size = end < 0 ? size + chunk.length : chunk.length - end - 1;
    if (size > maxLine) {
      throw new RangeError(
        `Cannot read ${origin()}: a line must have at most ${maxLine / mebi} MiB, got more; write one row per line`,
      );
    }
    yield chunk;
  }
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '');
}

function decodeLine(bytes: Uint8Array, origin: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    const at = findInvalidUtf8(bytes);
    throw new RowError(
      `Cannot read ${origin}: it must be UTF-8, got other bytes; convert it first (${showByte(bytes, at)} is byte ${at + 1} of the line)`,
      { reason: 'invalid-utf8', origin, cause },
    );
  }
}

function decodeFile(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    const at = findInvalidUtf8(bytes);
    const before = bytes.subarray(0, at);
    const line = before.reduce((count, byte) => (byte === lineFeed ? count + 1 : count), 1);
    const column = at - before.lastIndexOf(lineFeed);
    throw new TypeError(
      `Cannot read ${name}: it must be UTF-8, got other bytes; convert it first (${showByte(bytes, at)} is byte ${column} of line ${line})`,
      { cause },
    );
  }
}

/** @example 255  →  '0xff' */
function showByte(bytes: Uint8Array, at: number): string {
  return `0x${bytes[at]!.toString(16).padStart(2, '0')}`;
}

/** A file's bytes, decompressed if its name ends in `.gz`. */
async function* readChunks({ path, name }: DataFile): AsyncGenerator<Buffer> {
  const bytes = createReadStream(path);
  if (!path.endsWith('.gz')) return yield* bytes as AsyncIterable<Buffer>;
  const { size } = await stat(path);
  const allowance = Math.max(minAllowance, maxRatio * size);
  // Errors of either stream surface in the last one, which is read here.
  const decompressed = pipeline(bytes, createGunzip(), () => {});
  let total = 0;
  try {
    for await (const chunk of decompressed as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > allowance) {
        throw new RangeError(
          `Cannot read ${name}: its text must be at most ${maxRatio} times as large as the file of ${size} bytes, got more; decompress it first if it is correct`,
        );
      }
      yield chunk;
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw cause;
    throw new Error(`Cannot read ${name}: it must be a complete gzip file, got "${message}"`, {
      cause,
    });
  }
}
