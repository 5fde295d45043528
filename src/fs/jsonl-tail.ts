import type { FileHandle } from 'node:fs/promises';
import { openOwnFile } from './own-file.ts';
import { readBytes, statIfExists } from './read.ts';

/** Receives the lines of a log. */
export interface LineSink {
  /** Takes a line without its line feed; the bytes are valid only during the call. Returns false if
   *  the line is not a valid record. */
  add(bytes: Buffer, offset: number): boolean;
  /** Drops all lines received so far. */
  clear(): void;
}

/** `reset` means that the file was replaced or truncated, so everything read before is void. */
export type LogChange = 'same' | 'grown' | 'reset';

const chunkBytes = 1 << 20;
/** Number of bytes before the read position that are compared to recognise the file. */
const fingerprintBytes = 64;
const lineFeed = 10;

/** Reads a log while it grows: each line once, as soon as it is complete. A partial last line waits
 *  for its end; lines that the sink rejects are counted.
 *  @example '{"step":1}\n{"st'  →  1 line; then 'ep":2}\n'  →  1 more */
export class JsonlTail {
  private readonly path: string;
  private readonly sink: LineSink;
  private rejectedCount = 0;
  private lineCount = 0;
  /** The position after the last complete line. */
  private end = 0;
  private fingerprint: Buffer = Buffer.alloc(0);
  private lastStats:
    | { readonly size: number; readonly mtimeMs: number; readonly ino: number }
    | undefined;
  private reading: Promise<LogChange> | undefined;

  constructor(path: string, sink: LineSink) {
    this.path = path;
    this.sink = sink;
  }

  /** Number of lines that the sink rejected. */
  get skipped(): number {
    return this.rejectedCount;
  }

  /** Complete lines so far, including empty ones; inside `LineSink.add` the number of that line. */
  get lines(): number {
    return this.lineCount;
  }

  /** Reads what is new; concurrent calls share one read. */
  update(): Promise<LogChange> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<LogChange> {
    const now = await statIfExists(this.path);
    if (now === undefined) return this.reset();
    const { lastStats: last } = this;
    const isSame = last?.size === now.size && last.mtimeMs === now.mtimeMs && last.ino === now.ino;
    if (isSame) return 'same';
    const file = await openOwnFile(this.path);
    if (file === undefined) return this.reset();
    try {
      return await this.readFrom(file);
    } finally {
      await file.close();
    }
  }

  private async readFrom(file: FileHandle): Promise<LogChange> {
    const { size, mtimeMs, ino } = await file.stat();
    const isReplaced = this.lastStats !== undefined && !(await this.hasGrown(file, { size, ino }));
    if (isReplaced) this.reset();
    const before = this.end;
    await this.readLines(file, size);
    const from = Math.max(0, this.end - fingerprintBytes);
    this.fingerprint = await readBytes(file, { from, to: this.end });
    this.lastStats = { size, mtimeMs, ino };
    if (isReplaced) return 'reset';
    return this.end > before ? 'grown' : 'same';
  }

  /** Whether the file still starts with what was read. */
  private async hasGrown(
    file: FileHandle,
    { size, ino }: { readonly size: number; readonly ino: number },
  ): Promise<boolean> {
    if (ino !== this.lastStats?.ino || size < this.end) return false;
    const from = this.end - this.fingerprint.length;
    return this.fingerprint.equals(await readBytes(file, { from, to: this.end }));
  }

  private async readLines(file: FileHandle, size: number): Promise<void> {
    let position = this.end;
    let rest: Buffer[] = [];
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - position));
    while (position < size) {
      const length = Math.min(chunk.length, size - position);
      const { bytesRead } = await file.read(chunk, 0, length, position);
      if (bytesRead === 0) return;
      const bytes = chunk.subarray(0, bytesRead);
      let start = 0;
      for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, start)) {
        const piece = bytes.subarray(start, at);
        this.addLine(rest.length === 0 ? piece : Buffer.concat([...rest, piece]));
        rest = [];
        start = at + 1;
        this.end = position + start;
      }
      // Copied, because the next read overwrites the chunk.
      if (start < bytesRead) rest.push(Buffer.from(bytes.subarray(start)));
      position += bytesRead;
    }
  }

  private addLine(bytes: Buffer): void {
    this.lineCount++;
    if (bytes.length > 0 && !this.sink.add(bytes, this.end)) this.rejectedCount++;
  }

  private reset(): LogChange {
    const hadFile = this.lastStats !== undefined;
    this.lastStats = undefined;
    this.end = 0;
    this.rejectedCount = 0;
    this.lineCount = 0;
    this.fingerprint = Buffer.alloc(0);
    if (hadFile) this.sink.clear();
    return hadFile ? 'reset' : 'same';
  }
}
