import { access, constants, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { explainSystemError, pathExists, statIfExists } from '../fs/index.ts';
import {
  CheckpointStore,
  checkpointsName,
  type FoundCheckpoint,
} from '../loop/checkpoint-store.ts';
import { failedJobName } from '../queue/failed-job.ts';
import { locateHumanFiles } from '../reward-kl/live-human-files.ts';
import { readLogLines } from './log-files.ts';
import { expectUnlocked, lockName } from './run-lock.ts';
import { secretsName } from './run-secrets.ts';
import { type RunState, readRunState, readRunStateIfIntact, stateName } from './run-state.ts';

/** The files of a run, besides its state and lock. */
export const runFileNames = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  samples: 'samples.jsonl',
  tokens: 'tokens.jsonl',
  evaluations: 'evaluations.jsonl',
  log: 'log.jsonl',
  note: 'note.json',
  workers: 'workers.json',
  answers: 'answers.jsonl',
  events: 'events',
  checkpoints: checkpointsName,
} as const;

/** Whether a run is to resume in a folder or start there. */
interface RunStart {
  readonly resume?: boolean;
}

/** Checks that a run can start in a folder or resume there, and changes nothing: throws what
 *  `RunFolder.create` would throw. Returns the checkpoint that it would resume from. */
export async function checkRunFolder(
  path: string,
  { resume = false }: RunStart,
): Promise<FoundCheckpoint | undefined> {
  await expectPlace(path, { resume });
  expectUnlocked(path);
  if (resume) return new CheckpointStore(join(path, checkpointsName), { keep: 1 }).latest();
  await expectNoRun(path, { wasLocked: await hasLock(path) });
  return undefined;
}

/** Rejects a place where no run is to resume, and one where nothing can be written. */
export async function expectPlace(path: string, { resume = false }: RunStart): Promise<void> {
  if (resume) await readStartTime(path);
  else await isFolder(path);
  const { parent, missing } = await findParent(path);
  const action = resume ? `resume ${path}` : `start a run in ${path}`;
  if (!(await stat(parent)).isDirectory()) {
    throw new Error(
      `Cannot ${action}: ${parent} must be a folder, got a file; choose another folder`,
    );
  }
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    if (missing === undefined) return;
    // Only an attempt finds every reason: virtual file systems and quotas pass the check above.
    await mkdir(missing);
    await rmdir(missing);
  } catch (error) {
    const next = resume ? 'resume it again' : 'start it again, or choose another folder';
    throw explainSystemError(error, { action, next });
  }
}

/** When the run in a folder started; a folder without a run is rejected. If the state is damaged, it is
 *  the first time in the log, or now. */
export async function readStartTime(path: string): Promise<string> {
  const state = await readRunStateIfIntact(path);
  if (state === undefined) {
    throw new Error(
      `Cannot resume ${path}: it must contain a run, got no ${stateName}; leave out --resume to start one`,
    );
  }
  if (state !== 'damaged') return state.startedAt;
  const [first] = await readLogLines(join(path, runFileNames.log));
  const time = new Date(/"time":"([^"]+)"/.exec(first ?? '')?.[1] ?? Number.NaN);
  return (Number.isNaN(time.getTime()) ? new Date() : time).toISOString();
}

/** The closest folder above a path that exists, or the path itself, and the one below it that must be
 *  created first. */
async function findParent(
  path: string,
): Promise<{ readonly parent: string; readonly missing: string | undefined }> {
  let [parent, missing]: [string, string | undefined] = [path, undefined];
  while ((await statIfExists(parent)) === undefined) [parent, missing] = [dirname(parent), parent];
  return { parent, missing };
}

/** Whether a folder exists; a file is rejected. */
async function isFolder(path: string): Promise<boolean> {
  const stats = await statIfExists(path);
  if (stats === undefined || stats.isDirectory()) return stats !== undefined;
  throw new Error(
    `Cannot start a run in ${path}: it must be a folder, got a file; choose another folder`,
  );
}

/** Names in the folder of a run that completed no step: all can be written again. */
const untrainedNames: ReadonlySet<string> = new Set([
  ...Object.values(runFileNames),
  ...[stateName, secretsName, 'inputs.json', 'data.json', 'human', failedJobName],
]);

/** Whether an ended process left a lock behind. */
interface EarlierLock {
  readonly wasLocked: boolean;
}

/** Whether a folder has a lock. */
export function hasLock(path: string): Promise<boolean> {
  return pathExists(join(path, lockName));
}

/** Rejects a folder that cannot take a new run. It must be missing or empty, or its run must have
 *  completed no step, and people must have scored nothing in it. Returns the state of such a run. A run
 *  that was killed before it wrote a state has left its lock. */
async function expectNoRun(
  path: string,
  { wasLocked }: EarlierLock,
): Promise<RunState | undefined> {
  if (!(await isFolder(path))) return undefined;
  const state = await readRunState(path);
  const isRun = state !== undefined || wasLocked;
  const isOurs = (name: string) => untrainedNames.has(name) || name.endsWith('.request');
  const other = (await listEntries(path)).find((name) => !isRun || !isOurs(name));
  const isUsed = other !== undefined || (isRun && !(await isUntrained(path, state)));
  if (!isUsed) return state;
  throw new Error(
    state === undefined
      ? `Cannot start a run in ${path}: it must be new or empty, got ${other ?? checkpointsName} in it; choose another folder`
      : `Cannot start a run in ${path}: it must not contain a run, got one started at ${state.startedAt}, now at step ${state.step}; ` +
          'continue it with --resume or choose another folder',
  );
}

/** Removes a run that completed no step. Its state stays until the new run replaces it: whenever the
 *  process ends, the folder can take a run. Returns a sentence about the removed run. */
export async function makeRoom(path: string, lock: EarlierLock): Promise<string | undefined> {
  const state = await expectNoRun(path, lock);
  await removeContents(path);
  if (state === undefined) return undefined;
  const { message = 'its process ended' } = state;
  return `Replaced the run of ${state.startedAt} in this folder, which had completed no step: ${message}`;
}

/** Removes the folder of a run, its state last. */
export async function removeRun(path: string): Promise<void> {
  await removeContents(path);
  await rm(path, { recursive: true });
}

async function removeContents(path: string): Promise<void> {
  const names = (await listEntries(path)).filter((name) => name !== stateName);
  for (const name of names) await rm(join(path, name), { recursive: true });
}

/** Whether a run has completed no step and has no scores by people. */
async function isUntrained(path: string, state: RunState | undefined): Promise<boolean> {
  if (state !== undefined && state.step > 0) return false;
  const scores = await statIfExists(locateHumanFiles(join(path, 'human')).scores);
  if (scores !== undefined && scores.size > 0) return false;
  const checkpoints = new CheckpointStore(join(path, checkpointsName), { keep: 1 });
  return ((await checkpoints.latest())?.step ?? 0) === 0;
}

/** The names in a folder, without its lock and what ended processes left half written. */
async function listEntries(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => name !== lockName && !isLeftover(name));
}

/** Removes what ended processes left half written. */
export async function removeLeftovers(path: string): Promise<void> {
  const leftovers = (await readdir(path)).filter(isLeftover);
  for (const name of leftovers) await rm(join(path, name), { recursive: true });
}

/** @example run.json.tmp, metrics.jsonl.1f0e….tmp, model.1f0e….tmp */
function isLeftover(name: string): boolean {
  return /(\.(json|jsonl|lock)|^(model|last))\.(.+\.)?tmp$/.test(name);
}
