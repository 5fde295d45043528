import { type FileHandle, open } from 'node:fs/promises';
import { statIfThere } from './safetensors/open-weights.ts';

/** What takes the lines of a log. */
export interface LineSink {
  /** Takes a line without its line feed, whose bytes are there only during the call; false where the
   *  line is not what the log should hold. */
  add(bytes: Buffer, offset: number): boolean;
  /** Forgets every line. */
  clear(): void;
}

/** `reset` where the file is another one or was cut: what was read before no longer holds. */
export type LogChange = 'same' | 'grown' | 'reset';

const CHUNK = 1 << 20;
/** Bytes before the end of what was read, by which a file is known again. */
const MARK = 64;
const LINE_FEED = 10;

/** Reads a log as it grows: each line once, as soon as its end is there. A torn last line waits for
 *  its rest; lines that the sink refuses are counted.
 *  @example '{"step":1}\n{"st'  →  1 line; then 'ep":2}\n'  →  1 more */
export class JsonlTail {
  private readonly path: string;
  private readonly sink: LineSink;
  private bad = 0;
  private count = 0;
  /** After the last whole line. */
  private end = 0;
  private mark: Buffer = Buffer.alloc(0);
  private seen:
    | { readonly size: number; readonly mtimeMs: number; readonly ino: number }
    | undefined;
  private reading: Promise<LogChange> | undefined;

  constructor(path: string, sink: LineSink) {
    this.path = path;
    this.sink = sink;
  }

  /** Lines that were passed over, as they are not what the log should hold. */
  get skipped(): number {
    return this.bad;
  }

  /** Whole lines so far, empty ones too; while the sink takes a line, that line's number. */
  get lines(): number {
    return this.count;
  }

  /** Takes what is new; calls at the same time share one reading. */
  update(): Promise<LogChange> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<LogChange> {
    const now = await statIfThere(this.path);
    if (now === undefined) return this.forget();
    const { seen } = this;
    const isSame = seen?.size === now.size && seen.mtimeMs === now.mtimeMs && seen.ino === now.ino;
    if (isSame) return 'same';
    const file = await open(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return this.forget();
    try {
      return await this.readFrom(file);
    } finally {
      await file.close();
    }
  }

  private async readFrom(file: FileHandle): Promise<LogChange> {
    const { size, mtimeMs, ino } = await file.stat();
    const isOther = this.seen !== undefined && !(await this.isContinued(file, { size, ino }));
    if (isOther) this.forget();
    const before = this.end;
    await this.takeLines(file, size);
    this.mark = await readBytes(file, { from: Math.max(0, this.end - MARK), to: this.end });
    this.seen = { size, mtimeMs, ino };
    if (isOther) return 'reset';
    return this.end > before ? 'grown' : 'same';
  }

  private async isContinued(
    file: FileHandle,
    { size, ino }: { readonly size: number; readonly ino: number },
  ): Promise<boolean> {
    if (ino !== this.seen?.ino || size < this.end) return false;
    const from = this.end - this.mark.length;
    return this.mark.equals(await readBytes(file, { from, to: this.end }));
  }

  private async takeLines(file: FileHandle, size: number): Promise<void> {
    let position = this.end;
    let rest: Buffer[] = [];
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - position));
    while (position < size) {
      const length = Math.min(chunk.length, size - position);
      const { bytesRead } = await file.read(chunk, 0, length, position);
      if (bytesRead === 0) return;
      const bytes = chunk.subarray(0, bytesRead);
      let start = 0;
      for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, start)) {
        const piece = bytes.subarray(start, at);
        this.addLine(rest.length === 0 ? piece : Buffer.concat([...rest, piece]));
        rest = [];
        start = at + 1;
        this.end = position + start;
      }
      // The chunk is used again for what follows.
      if (start < bytesRead) rest.push(Buffer.from(bytes.subarray(start)));
      position += bytesRead;
    }
  }

  private addLine(bytes: Buffer): void {
    this.count++;
    if (bytes.length > 0 && !this.sink.add(bytes, this.end)) this.bad++;
  }

  private forget(): LogChange {
    const wasThere = this.seen !== undefined;
    this.seen = undefined;
    this.end = 0;
    this.bad = 0;
    this.count = 0;
    this.mark = Buffer.alloc(0);
    if (wasThere) this.sink.clear();
    return wasThere ? 'reset' : 'same';
  }
}

/** Bytes of a file; fewer where it ends earlier. */
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
