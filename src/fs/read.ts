import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { createReadStream } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { expectRegular, readRegularText } from './regular-file.ts';

/** The stats of the file or folder at `path`, or undefined if there is none. */
export function statIfExists(path: string): Promise<Stats | undefined> {
  return stat(path).catch(ignoreMissing);
}

/** Whether there is a file or folder at `path`; a broken link counts as missing. */
export async function pathExists(path: string): Promise<boolean> {
  return (await statIfExists(path)) !== undefined;
}

/** The text of the file at `path`, or undefined if there is none; rejects what is not a regular file. */
export function readTextIfExists(path: string): Promise<string | undefined> {
  return readRegularText(path).catch(ignoreMissing);
}

/** Codes of errors that mean that a file does not exist; no file has a name that is too long. */
const missingCodes: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

/** Handles an error by which a file or one of its folders is missing; throws others. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (!missingCodes.includes(error.code)) throw error;
}

/** The bytes `from` to `to` of an open file; fewer if the file ends earlier. */
export async function readBytes(
  file: FileHandle,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** A line without its line feed. */
export interface Line {
  readonly bytes: Buffer;
  /** False only for a last line without a line feed. */
  readonly isComplete: boolean;
}

const lineFeed = 10;

/** Splits a stream of bytes at line feeds only; other line separators of Unicode stay in the line. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(start, end)]), isComplete: true };
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), isComplete: false };
}

/** SHA-256 of a regular file in hexadecimal; it is streamed, so its size does not matter for memory. */
export async function hashFile(path: string): Promise<string> {
  expectRegular(path, { stats: await stat(path), action: 'read' });
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest('hex');
}
