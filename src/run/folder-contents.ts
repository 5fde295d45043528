import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockName } from './run-lock.ts';
import { readRunState } from './run-state.ts';

/** Removes files that ended processes left half written. */
export async function removeLeftovers(path: string): Promise<void> {
  const leftovers = (await readdir(path)).filter((name) =>
    /\.(json|jsonl|lock)\..*tmp$/.test(name),
  );
  for (const name of leftovers) await rm(join(path, name));
}

/** Refuses a folder that is not for a new run. */
export async function expectNoRun(path: string): Promise<void> {
  const state = await readRunState(path);
  if (state !== undefined) {
    throw new Error(
      `Cannot start a run in ${path}: it must not hold another, got one of ${state.startedAt} at step ${state.step}; ` +
        'pass it to --resume to go on with it, or choose another folder',
    );
  }
  const other = (await readdir(path)).find((name) => name !== lockName);
  if (other === undefined) return;
  throw new Error(
    `Cannot start a run in ${path}: it must be new or empty, got ${other} in it; choose another folder`,
  );
}
