import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject } from '../base-setup/parse-json-object.ts';
import type { StopReason } from '../ppo-trainer/records.ts';
import { explainSystemError } from './system-error.ts';

/** The file that makes a folder a run's. */
export const stateName = 'run.json';

const ends = [
  'completed',
  'converged',
  'collapsed',
  'degraded',
  'diverged',
  'interrupted',
] as const satisfies readonly StopReason[];

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
  /** `running` also where the process was killed; its pid tells. */
  status: z.enum(['running', 'failed', ...ends]),
  /** Why the run ended, in one sentence. */
  message: z.string().optional(),
});

/** How far a run has come. */
export type RunState = Readonly<z.output<typeof runStateSchema>>;

/** Replaces the state of a run as a whole, in one go, as listeners to events cannot wait. */
export function writeRunState(folder: string, state: RunState): void {
  const path = join(folder, stateName);
  try {
    const descriptor = openSync(`${path}.tmp`, 'w');
    try {
      writeSync(descriptor, `${JSON.stringify(state, undefined, 2)}\n`);
      fsyncSync(descriptor);
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
