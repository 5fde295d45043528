import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** The file that keeps other processes out of a run's folder. */
export const lockName = 'run.lock';

const holderSchema = z.object({ pid: z.int(), host: z.string(), id: z.string() });

type Holder = z.output<typeof holderSchema>;

/** Locks that this process holds: another lock with its pid is left by an earlier process, as in
 *  containers, where pids begin anew. */
const held = new Set<string>();

/** A process's hold of a run's folder, by a file with its pid. */
export class RunLock {
  private readonly path: string;
  private readonly id: string;

  /** Takes the lock of a folder; one that a dead process left is taken over. */
  static acquire(folder: string): RunLock {
    const path = join(folder, lockName);
    const id = randomUUID();
    while (!tryCreate(path, { pid: process.pid, host: hostname(), id })) {
      const text = readIfThere(path);
      if (text === undefined) continue;
      expectStale(folder, parseHolder(text));
      setAside(folder, text);
    }
    expectOwn(folder, id);
    held.add(id);
    return new RunLock(path, id);
  }

  private constructor(path: string, id: string) {
    this.path = path;
    this.id = id;
  }

  /** May be called twice. */
  release(): void {
    if (!held.delete(this.id)) return;
    if (parseHolder(readIfThere(this.path) ?? '')?.id === this.id) rmSync(this.path);
  }
}

/** Whether a process works in a folder; one on another machine can only be believed. */
export function isRunAlive(folder: string): boolean {
  const holder = parseHolder(readIfThere(join(folder, lockName)) ?? '');
  return holder !== undefined && (holder.host !== hostname() || isAlive(holder.pid));
}

/** Whether the file is new; both calls are made in one go, so that it is hardly ever seen empty. */
function tryCreate(path: string, holder: Holder): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  writeSync(descriptor, `${JSON.stringify(holder)}\n`);
  closeSync(descriptor);
  return true;
}

/** Removes the lock of a dead process, unless another process has just done so and taken it. */
function setAside(folder: string, seen: string): void {
  const path = join(folder, lockName);
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readFileSync(aside, 'utf8');
  if (moved !== seen) {
    renameSync(aside, path);
    throw describeHeld(folder, parseHolder(moved));
  }
  rmSync(aside);
}

/** A lock without a holder is one whose process ended while it wrote it. */
function expectStale(folder: string, holder: Holder | undefined): void {
  if (holder === undefined) return;
  const isMine = holder.pid === process.pid;
  const isStale = isMine ? !held.has(holder.id) : !isAlive(holder.pid);
  if (holder.host !== hostname() || !isStale) throw describeHeld(folder, holder);
}

function expectOwn(folder: string, id: string): void {
  const holder = parseHolder(readIfThere(join(folder, lockName)) ?? '');
  if (holder?.id !== id) throw describeHeld(folder, holder);
}

function describeHeld(folder: string, holder: Holder | undefined): Error {
  const where = holder === undefined || holder.host === hostname() ? '' : ` on ${holder.host}`;
  return new Error(
    `Cannot use ${folder}: only one process may work in it, got process ${holder?.pid ?? 'of unknown id'}${where}; ` +
      `wait for its end or choose another folder, or delete ${lockName} in it if that process is gone`,
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
