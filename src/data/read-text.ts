import { createReadStream } from 'node:fs';
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
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the lines of a text file one at a time; they end with LF, CRLF or the end of the file. Other
 *  line separators of Unicode are part of a line. */
export async function* readLines(
  file: DataFile,
  onRowError: RowErrorHandler = throwRowError,
): AsyncGenerator<TextLine> {
  let number = 0;
  for await (const { bytes } of splitLines(readChunks(file))) {
    number++;
    const decoded = catchRowError(
      () => decodeLine(bytes, `${file.name} line ${number}`),
      onRowError,
    );
    if (decoded === undefined) continue;
    const text = decoded.replace(/\r$/, '');
    yield { text: number === 1 ? withoutMark(text) : text, number };
  }
}

/** Reads a whole text file without its byte order mark. */
export async function readText(file: DataFile): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readChunks(file)) chunks.push(chunk);
  return withoutMark(decodeFile(Buffer.concat(chunks), file.name));
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
  // Errors of either stream surface in the last one, which is read here.
  const decompressed = pipeline(bytes, createGunzip(), () => {});
  try {
    yield* decompressed as AsyncIterable<Buffer>;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw cause;
    throw new Error(`Cannot read ${name}: it must be a complete gzip file, got "${message}"`, {
      cause,
    });
  }
}
