import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  AtomicFile,
  explainSystemError,
  pathExists,
  readTextIfExists,
  splitLines,
} from '../fs/index.ts';

/** A file that only grows. The first append creates it. Each append returns once the system has the
 *  bytes, so they keep their order and survive the end of the process. */
export class AppendFile {
  private readonly path: string;
  private descriptor: number | undefined;
  private isClosed = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Appends one line. */
  append(bytes: Uint8Array): void {
    if (this.isClosed) throw new Error(`Internal: ${this.path} is closed`);
    this.attempt(() => {
      this.descriptor ??= openSync(this.path, 'a');
      for (let done = 0; done < bytes.length; ) done += writeSync(this.descriptor, bytes, done);
    });
  }

  /** Flushes everything to disk. */
  sync(): void {
    const { descriptor } = this;
    if (descriptor !== undefined && !this.isClosed) this.attempt(() => fsyncSync(descriptor));
  }

  /** May be called twice. */
  /** Closes the file. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.descriptor !== undefined) closeSync(this.descriptor);
  }

  private attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      throw explainSystemError(error, { action: `write ${this.path}`, next: 'resume the run' });
    }
  }
}

/** Appends records to a file as JSON Lines. Without records there is no file. NaN and infinities
 *  become null, since JSON cannot represent them; undefined values are left out.
 *  @example { step: 1, 'loss/value_avg': NaN }  →  `{"step":1,"loss/value_avg":null}` */
export class JsonlWriter {
  private readonly file: AppendFile;

  constructor(path: string) {
    this.file = new AppendFile(path);
  }

  /** Appends one line. */
  append<T extends { readonly step: number }>(record: T): void {
    this.file.append(Buffer.from(`${JSON.stringify(record)}\n`));
  }

  /** Flushes everything to disk. */
  sync(): void {
    this.file.sync();
  }

  /** Closes the file. */
  close(): void {
    this.file.close();
  }
}

/** A line of `log.jsonl`: something that happened to the run, in plain words. */
export interface LogRow {
  readonly time: string;
  readonly step: number;
  readonly type:
    | 'start'
    | 'resume'
    | 'plan'
    | 'warning'
    | 'checkpoint'
    | 'control'
    | 'end'
    | 'model';
  readonly message: string;
}

/** Appends a row with the current time to a run's log. Rows are rare, so each is flushed to disk. */
export function appendLogRow(path: string, row: Omit<LogRow, 'time'>): void {
  const writer = new JsonlWriter(path);
  try {
    writer.append({ time: new Date().toISOString(), ...row });
    writer.sync();
  } finally {
    writer.close();
  }
}

/** The lines of a log; none if the file is missing. */
export async function readLogLines(path: string): Promise<string[]> {
  const text = (await readTextIfExists(path)) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

/** Removes the lines of later steps from a log, so that a resumed run can write them again. The file
 *  is replaced atomically, or removed if nothing is left. An incomplete last line is dropped.
 *  @example lines of steps 1, 2, 3 and `{"st`, lastStep 2  →  lines of steps 1, 2 */
export async function truncateLog(path: string, lastStep: number): Promise<void> {
  if (!(await pathExists(path))) return;
  const file = await AtomicFile.create(path);
  try {
    let [number, size] = [0, 0];
    const chunks = createReadStream(path) as AsyncIterable<Buffer>;
    for await (const { bytes, isComplete } of splitLines(chunks)) {
      number++;
      const step = readStep(bytes);
      if (step === undefined && !isComplete) continue;
      if (step === undefined) throw describeBadLine({ path, number, bytes });
      if (step > lastStep) continue;
      const line = Buffer.concat([bytes, Buffer.from('\n')]);
      await file.write(line, size);
      size += line.length;
    }
    if (size === 0) return await rm(path);
    await file.finish();
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** The step of a record; undefined if it has none. */
function readStep(bytes: Buffer): number | undefined {
  let record: unknown;
  try {
    record = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const { step } = (record ?? {}) as { step?: unknown };
  return typeof step === 'number' ? step : undefined;
}

function describeBadLine(line: { path: string; number: number; bytes: Buffer }): Error {
  const start = JSON.stringify(line.bytes.toString().slice(0, 40));
  return new SyntaxError(
    `Cannot resume from ${line.path} line ${line.number}: it must be JSON with a "step", got ${start}; ` +
      `fix the line or delete it from ${basename(line.path)}`,
  );
}
