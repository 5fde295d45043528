import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import {
  AtomicFile,
  explainSystemError,
  openOwnFile,
  readOwnText,
  splitLines,
  syncFolderSync,
} from '../fs/index.ts';

/** A file that only grows. The first append creates it. Each append returns once the system has the
 *  bytes, so they keep their order and survive the end of the process. */
export class AppendFile {
  private readonly path: string;
  private descriptor: number | undefined;
  private isEntrySynced = false;
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

  /** Flushes everything to disk: the bytes and, the first time, the file's entry in its folder. */
  sync(): void {
    const { descriptor } = this;
    if (descriptor === undefined || this.isClosed) return;
    this.attempt(() => {
      fsyncSync(descriptor);
      if (!this.isEntrySynced) syncFolderSync(dirname(this.path));
    });
    this.isEntrySynced = true;
  }

  /** Closes the file. May be called twice. */
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
  private appended = 0;

  constructor(path: string) {
    this.file = new AppendFile(path);
  }

  /** Number of records that it has appended. */
  get rows(): number {
    return this.appended;
  }

  /** Appends one line. */
  append<T extends { readonly step: number }>(record: T): void {
    this.file.append(Buffer.from(`${JSON.stringify(record)}\n`));
    this.appended++;
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
  const text = (await readOwnText(path)) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

/** The number of complete lines of a log up to a step. Lines are not parsed beyond their step. */
export async function countLogRows(path: string, lastStep: number): Promise<number> {
  let rows = 0;
  for await (const { bytes, isComplete } of readLines(path)) {
    const step = isComplete ? (readFirstStep(bytes) ?? readStep(bytes)) : undefined;
    if (step !== undefined && step <= lastStep) rows++;
  }
  return rows;
}

/** What a log must have. */
interface TruncateOptions {
  /** Number of rows that the resumed run relies on. Invalid lines after them, such as a power cut leaves
   *  behind, are dropped; without a number, every complete line must be valid. */
  readonly needed?: number | undefined;
}

/** Removes the lines of later steps from a log, so that a resumed run can write them again. The file
 *  is replaced atomically, or removed if nothing is left. An incomplete last line is dropped. Returns the
 *  number of lines that stay.
 *  @example lines of steps 1, 2, 3 and `{"st`, lastStep 2  →  lines of steps 1, 2 */
export async function truncateLog(
  path: string,
  lastStep: number,
  { needed = Infinity }: TruncateOptions = {},
): Promise<number> {
  let [number, rows, size] = [0, 0, 0];
  let file: AtomicFile | undefined;
  try {
    for await (const { bytes, isComplete } of readLines(path)) {
      file ??= await AtomicFile.create(path);
      number++;
      const step = readStep(bytes);
      if (step === undefined && (!isComplete || rows >= needed)) continue;
      if (step === undefined) throw describeBadLine({ path, number, bytes });
      if (step > lastStep) continue;
      const line = Buffer.concat([bytes, Buffer.from('\n')]);
      await file.write(line, size);
      size += line.length;
      rows++;
    }
    if (rows > 0) await file!.finish();
    if (rows > 0) await file!.commit();
    else await rm(path, { force: true });
    return rows;
  } finally {
    await file?.discard();
  }
}

/** The lines of a log one after another; none if the file is missing. */
async function* readLines(path: string): ReturnType<typeof splitLines> {
  const file = await openOwnFile(path);
  if (file === undefined) return;
  yield* splitLines(file.createReadStream() as AsyncIterable<Buffer>);
}

/** The step of a record that starts with it, as those of this package do.
 *  @example `{"step":7,"text":"…"}`  →  7 */
function readFirstStep(bytes: Buffer): number | undefined {
  const match = /^\{"step":(\d+)[,}]/.exec(bytes.toString('latin1', 0, 40));
  return match === null ? undefined : Number(match[1]);
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
