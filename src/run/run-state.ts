import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject } from '../fs/index.ts';
import { stopReasons } from '../loop/records.ts';
import { explainSystemError } from './system-error.ts';

/** The file that makes a folder a run's. */
export const stateName = 'run.json';

/** What a run can be at, as its own process writes it down. */
export const runStatuses = ['running', 'paused', 'waiting', 'failed', ...stopReasons] as const;

const runStateSchema = z.object({
  /** Of this package. */
  version: z.string(),
  /** Of the process that worked on the run last. */
  pid: z.int(),
  startedAt: z.iso.datetime(),
  /** When the run was resumed last. */
  resumedAt: z.iso.datetime().optional(),
  /** The last step that was made. */
  step: z.int().min(0),
  totalSteps: z.int().min(0).optional(),
  /** `running`, `paused` or `waiting` (for people) also where the process was killed; its pid tells. */
  status: z.enum(runStatuses),
  /** Why the run ended, or what it waits for, in one sentence. */
  message: z.string().optional(),
  /** What a living run is at. */
  phase: z.object({ phase: z.string(), done: z.int(), total: z.int() }).optional(),
});

/** How far a run has come. */
export type RunState = Readonly<z.output<typeof runStateSchema>>;

/** Whether a run with this status has ended; one that was killed has not. */
export function hasEnded({ status }: Pick<RunState, 'status'>): boolean {
  return status !== 'running' && status !== 'paused' && status !== 'waiting';
}

/** Replaces the state of a run as a whole, in one go, as listeners to events cannot wait.
 *  @param options.sync whether to wait for the disk; true by default */
export function writeRunState(folder: string, state: RunState, { sync = true } = {}): void {
  const path = join(folder, stateName);
  try {
    const descriptor = openSync(`${path}.tmp`, 'w');
    try {
      writeSync(descriptor, `${JSON.stringify(state, undefined, 2)}\n`);
      if (sync) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(`${path}.tmp`, path);
  } catch (error) {
    throw explainSystemError(error, { action: `write ${path}`, next: 'resume the run' });
  }
}

/** The state of a run; undefined if the folder holds none. */
export async function readRunState(folder: string): Promise<RunState | undefined> {
  const path = join(folder, stateName);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { data, error } = runStateSchema.safeParse(parseJsonObject(text, path));
  if (data !== undefined) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw new TypeError(
    `Cannot read ${path}: it must be the state of a run (${issue.path.join('.')}: ${issue.message}); choose another folder`,
  );
}
