/** A layer below a program's file operations, loaded with `node --import`. It numbers every operation
 *  that changes a folder (`TORTURE_ROOT`) and, as the environment says, writes it to a journal outside of the
 *  folder, kills the process before the n-th operation of a sort, or has a full disk from operation n on.
 *
 *  Asynchronous functions call their synchronous counterparts, so the order of the journal is the order
 *  on disk. Operations that it does not know would be missing: `checkJournal` compares the journal with
 *  the folder. */

import fs, { type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names of the environment variables. */
export const journalVariables = {
  root: 'TORTURE_ROOT',
  journal: 'TORTURE_JOURNAL',
  killAt: 'TORTURE_KILL_AT',
  fullAt: 'TORTURE_FULL_AT',
} as const;

/** One change of the folder. Paths are relative to it; handles are numbered by `open`. */
export type Operation =
  | {
      readonly op: 'open';
      readonly handle: number;
      readonly path: string;
      /** Whether the file is new. */
      readonly isNew: boolean;
      readonly truncates: boolean;
      readonly appends: boolean;
    }
  | {
      readonly op: 'write';
      readonly handle: number;
      /** Null is the handle's own position. */
      readonly position: number | null;
      /** Base64. */
      readonly data: string;
    }
  | { readonly op: 'truncate'; readonly handle: number; readonly size: number }
  | { readonly op: 'sync'; readonly handle: number }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'unlink' | 'mkdir' | 'rmdir'; readonly path: string };

const { env } = process;
const root = env[journalVariables.root];
const journal = env[journalVariables.journal];
const killAt = env[journalVariables.killAt];
const fullAt = Number(env[journalVariables.fullAt] ?? Infinity);

const real = { ...fs };
const realOpen = fs.promises.open;
/** Open files of the folder by their descriptors. */
const handles = new Map<number, { readonly number: number; readonly path: string }>();
const sortCounts = new Map<string, number>();
let [handleCount, operationCount] = [0, 0];
let journalFile: number | undefined;

/** The path within the folder; undefined if it is elsewhere. */
function inside(path: unknown): string | undefined {
  const text = path instanceof URL ? fileURLToPath(path) : path;
  if (typeof text !== 'string') return undefined;
  const absolute = resolve(text);
  const isInside = absolute === root || absolute.startsWith(`${root}${sep}`);
  return isInside ? relative(root!, absolute) : undefined;
}

/** What an operation does to which file, the same in every run.
 *  @example 'rename', 'checkpoints/checkpoint-000002'  →  'rename checkpoints/checkpoint-#' */
export function sortOf(op: Operation['op'], path: string): string {
  return `${op} ${path.replace(/[\da-f]{8}-[\da-f-]{27}|\d+/g, '#')}`;
}

/** A moment in a run: before the n-th operation of a sort, counted from 0. */
export function momentOf(sort: string, n: number): string {
  return `${n} ${sort}`;
}

interface NextOperation {
  readonly op: Operation['op'];
  readonly path: string;
  readonly needsSpace?: boolean;
}

/** Counts the next operation; kills the process or fails before it if the environment says so. */
function begin({ op, path, needsSpace = false }: NextOperation): void {
  const sort = sortOf(op, path);
  const count = sortCounts.get(sort) ?? 0;
  sortCounts.set(sort, count + 1);
  if (momentOf(sort, count) === killAt) process.kill(process.pid, 'SIGKILL');
  if (operationCount++ >= fullAt && needsSpace) throw diskFull();
}

/** Writes an operation to the journal. */
function record(operation: Operation): void {
  if (journal === undefined) return;
  journalFile ??= real.openSync(journal, 'a');
  real.writeSync(journalFile, `${JSON.stringify(operation)}\n`);
}

function diskFull(): Error {
  const message = 'ENOSPC: no space left on device, write';
  return Object.assign(new Error(message), { code: 'ENOSPC', errno: -28, syscall: 'write' });
}

/** Numbers a descriptor that was opened in the folder. */
function registerHandle(path: string, open: { fd: number; flags: string; isNew: boolean }) {
  const handle = handleCount++;
  handles.set(open.fd, { number: handle, path });
  const [truncates, appends] = [open.flags.startsWith('w'), open.flags.startsWith('a')];
  return { op: 'open', handle, path, isNew: open.isNew, truncates, appends } as const;
}

function isMissing(path: PathLike): boolean {
  return !real.existsSync(path);
}

function openSync(path: PathLike, flags: string | number = 'r', mode?: fs.Mode): number {
  const name = inside(path);
  const open = () => real.openSync(path, flags, mode);
  if (name === undefined) {
    const fd = open();
    handles.delete(fd);
    return fd;
  }
  const isNew = isMissing(path);
  begin({ op: 'open', path: name, needsSpace: isNew });
  const fd = open();
  record(registerHandle(name, { fd, flags: String(flags), isNew }));
  return fd;
}

type WriteArguments = [data: string | NodeJS.ArrayBufferView, ...rest: unknown[]];

function writeSync(fd: number, ...[data, ...rest]: WriteArguments): number {
  const handle = handles.get(fd);
  const [first, second, third] = rest as (number | null | undefined)[];
  const isText = typeof data === 'string';
  const bytes = isText ? Buffer.from(data) : toBytes(data);
  const start = isText ? 0 : (first ?? 0);
  const length = isText ? bytes.length : (second ?? bytes.length - start);
  const position = (isText ? first : third) ?? null;
  const write = () => real.writeSync(fd, bytes, start, length, position);
  if (handle === undefined) return write();
  begin({ op: 'write', path: handle.path, needsSpace: true });
  const written = write();
  const data64 = bytes.subarray(start, start + written).toString('base64');
  record({ op: 'write', handle: handle.number, position, data: data64 });
  return written;
}

function toBytes({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function ftruncateSync(fd: number, size = 0): void {
  const { number, path } = handles.get(fd) ?? {};
  const run = () => real.ftruncateSync(fd, size);
  if (number === undefined) run();
  else change({ op: 'truncate', handle: number, size }, { path: path!, run });
}

function fsyncSync(fd: number): void {
  const { number, path } = handles.get(fd) ?? {};
  const run = () => real.fsyncSync(fd);
  if (number === undefined) run();
  else change({ op: 'sync', handle: number }, { path: path!, run });
}

function renameSync(from: PathLike, to: PathLike): void {
  const [before, after] = [inside(from), inside(to)];
  const run = () => real.renameSync(from, to);
  if (before === undefined || after === undefined) run();
  else change({ op: 'rename', from: before, to: after }, { path: after, run });
}

function changePath(op: 'unlink' | 'mkdir' | 'rmdir', path: PathLike, run: () => unknown): void {
  const name = inside(path);
  if (name === undefined) run();
  else change({ op, path: name }, { path: name, run });
}

/** Runs and records an operation on a path. */
function change(operation: Operation, { path, run }: { path: string; run: () => unknown }): void {
  const { op } = operation;
  begin({ op, path, needsSpace: op === 'mkdir' });
  run();
  record(operation);
}

const unlinkSync = (path: PathLike) => changePath('unlink', path, () => real.unlinkSync(path));
const rmdirSync = (path: PathLike) => changePath('rmdir', path, () => real.rmdirSync(path));

/** Returns the first folder that was missing, as the real one. */
function mkdirSync(path: PathLike, options?: fs.MakeDirectoryOptions | null): string | undefined {
  if (inside(path) === undefined) return real.mkdirSync(path, options ?? undefined);
  const isDone = options?.recursive === true && !isMissing(path);
  if (isDone) return undefined;
  const parent = dirname(String(path));
  const first =
    options?.recursive === true && isMissing(parent) ? mkdirSync(parent, options) : undefined;
  changePath('mkdir', path, () => real.mkdirSync(path));
  return first ?? String(path);
}

function rmSync(path: PathLike, options: fs.RmOptions = {}): void {
  const stats =
    inside(path) === undefined ? undefined : real.lstatSync(path, { throwIfNoEntry: false });
  // The real one also has the right errors.
  if (stats === undefined || (stats.isDirectory() && !options.recursive))
    real.rmSync(path, options);
  else if (!stats.isDirectory()) unlinkSync(path);
  else {
    for (const name of real.readdirSync(path)) rmSync(join(String(path), name), options);
    rmdirSync(path);
  }
}

type WriteFileOptions = { readonly flag?: string | undefined } | string | null | undefined;

function writeFileSync(
  file: PathLike | number,
  data: string | NodeJS.ArrayBufferView,
  options?: WriteFileOptions,
): void {
  const { flag = 'w' } = typeof options === 'object' && options !== null ? options : {};
  const bytes = typeof data === 'string' ? Buffer.from(data) : toBytes(data);
  const fd = typeof file === 'number' ? file : openSync(file, flag);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    if (typeof file !== 'number') real.closeSync(fd);
  }
}

function appendFileSync(
  file: PathLike | number,
  data: string | Uint8Array,
  options?: WriteFileOptions,
): void {
  const given = typeof options === 'object' ? options : {};
  writeFileSync(file, data, { flag: 'a', ...given });
}

function truncateSync(path: PathLike, size = 0): void {
  const fd = openSync(path, 'r+');
  try {
    ftruncateSync(fd, size);
  } finally {
    real.closeSync(fd);
  }
}

const synchronous = {
  ...{ openSync, writeSync, ftruncateSync, fsyncSync, fdatasyncSync: fsyncSync, renameSync },
  ...{ unlinkSync, rmdirSync, mkdirSync, rmSync, writeFileSync, appendFileSync, truncateSync },
};

/** The promises of paths: each calls its synchronous counterpart. */
function promisesOf(): Record<string, (...args: never[]) => Promise<unknown>> {
  const names = ['rename', 'unlink', 'rmdir', 'mkdir', 'rm', 'writeFile', 'appendFile', 'truncate'];
  const counterparts = synchronous as unknown as Record<string, (...args: never[]) => unknown>;
  return Object.fromEntries(
    names.map((name) => [name, async (...args: never[]) => counterparts[`${name}Sync`]!(...args)]),
  );
}

type Handle = fs.promises.FileHandle;

async function open(path: PathLike, flags: string | number = 'r', mode?: fs.Mode): Promise<Handle> {
  const name = inside(path);
  if (name === undefined) {
    const handle = await realOpen(path, flags, mode);
    handles.delete(handle.fd);
    return handle;
  }
  const isNew = isMissing(path);
  begin({ op: 'open', path: name, needsSpace: isNew });
  const handle = await realOpen(path, flags, mode);
  record(registerHandle(name, { fd: handle.fd, flags: String(flags), isNew }));
  return handle;
}

/** Replaces the methods of all handles. */
async function patchHandles(): Promise<void> {
  const handle = await realOpen(process.execPath, 'r');
  const prototype = Object.getPrototypeOf(handle) as object;
  await handle.close();
  Object.assign(prototype, {
    async write(this: Handle, data: string | NodeJS.ArrayBufferView, ...rest: unknown[]) {
      const [first] = rest;
      const options = typeof first === 'object' && first !== null ? first : undefined;
      const { offset, length, position } = (options ?? {}) as Record<string, unknown>;
      const args = options === undefined ? rest : [offset, length, position];
      return { bytesWritten: writeSync(this.fd, data, ...args), buffer: data };
    },
    async writeFile(this: Handle, data: string | Uint8Array) {
      writeFileSync(this.fd, data);
    },
    async appendFile(this: Handle, data: string | Uint8Array) {
      writeFileSync(this.fd, data);
    },
    async truncate(this: Handle, size?: number) {
      ftruncateSync(this.fd, size);
    },
    async sync(this: Handle) {
      fsyncSync(this.fd);
    },
    async datasync(this: Handle) {
      fsyncSync(this.fd);
    },
  });
}

if (root !== undefined) {
  await patchHandles();
  Object.assign(fs, synchronous);
  Object.assign(fs.promises, promisesOf(), { open });
  syncBuiltinESMExports();
}
