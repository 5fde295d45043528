import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readOwnTextSync } from '../fs/index.ts';
import { processStart } from './process-start.ts';

/** The file that locks a run's folder. */
export const lockName = 'run.lock';

const holderSchema = z.object({
  pid: z.int(),
  host: z.string(),
  id: z.string(),
  /** Start of the process, if the system reports it: another process may get its pid. */
  start: z.string().optional(),
});

type Holder = z.output<typeof holderSchema>;

/** Ids of the locks that this process holds. Any other lock with its pid was left by an earlier
 *  process: in containers, pids start again. */
const heldIds = new Set<string>();

/** Locks a run's folder for one process, with a file that holds its pid. */
export class RunLock {
  private readonly path: string;
  private readonly id: string;

  /** Locks a folder. A lock left by a dead process is taken over. */
  static acquire(folder: string): RunLock {
    const path = join(folder, lockName);
    const id = randomUUID();
    const { pid } = process;
    while (!tryCreate(path, { pid, host: hostname(), id, start: processStart(pid) })) {
      const text = readOwnTextSync(path);
      if (text === undefined) continue;
      expectStale(folder, parseHolder(text));
      removeStale(folder, text);
    }
    expectOwn(folder, id);
    heldIds.add(id);
    return new RunLock(path, id);
  }

  private constructor(path: string, id: string) {
    this.path = path;
    this.id = id;
  }

  /** May be called twice. */
  release(): void {
    if (!heldIds.delete(this.id)) return;
    if (parseHolder(readOwnTextSync(this.path) ?? '')?.id === this.id) rmSync(this.path);
  }
}

/** Throws what `RunLock.acquire` would throw, and takes no lock. */
export function expectUnlocked(folder: string): void {
  const text = readOwnTextSync(join(folder, lockName));
  if (text !== undefined) expectStale(folder, parseHolder(text));
}

/** Whether a live process holds a folder's lock. A process on another machine counts as live. */
export function isRunAlive(folder: string): boolean {
  const holder = parseHolder(readOwnTextSync(join(folder, lockName)) ?? '');
  return holder !== undefined && (holder.host !== hostname() || isAlive(holder));
}

/** Creates the lock file. Returns false if it exists. Create and write follow each other directly, so
 *  other processes hardly ever see it empty. */
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

/** Removes the lock of a dead process, unless another process has just replaced it. */
function removeStale(folder: string, seen: string): void {
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

/** A lock without a readable holder was left by a process that ended while writing it. */
function expectStale(folder: string, holder: Holder | undefined): void {
  if (holder === undefined) return;
  const isMine = holder.pid === process.pid;
  const isStale = isMine ? !heldIds.has(holder.id) : !isAlive(holder);
  if (holder.host !== hostname() || !isStale) throw describeHeld(folder, holder);
}

function expectOwn(folder: string, id: string): void {
  const holder = parseHolder(readOwnTextSync(join(folder, lockName)) ?? '');
  if (holder?.id !== id) throw describeHeld(folder, holder);
}

function describeHeld(folder: string, holder: Holder | undefined): Error {
  const where = holder === undefined || holder.host === hostname() ? '' : ` on ${holder.host}`;
  return new Error(
    `Cannot use ${folder}: only one process may use it at a time, got process ${holder?.pid ?? 'with unknown id'}${where}; ` +
      `wait until it ends, choose another folder, or delete ${lockName} in it if that process is gone`,
  );
}

function isAlive({ pid, start }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return start === undefined || (processStart(pid) ?? start) === start;
}

function parseHolder(text: string): Holder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
