import { access, constants, mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  explainSystemError,
  parseJsonObject,
  readTextIfExists,
  statIfExists,
  writeAtomically,
} from '../fs/index.ts';
import {
  CheckpointStore,
  checkpointsName,
  type FoundCheckpoint,
} from '../loop/checkpoint-store.ts';
import { locateHumanFiles } from '../reward-kl/live-human-files.ts';
import { version } from '../version.ts';
import { appendLogRow, type LogRow, truncateLog } from './log-files.ts';
import { expectUnlocked, lockName, RunLock } from './run-lock.ts';
import { hasEnded, type RunState, readRunState, stateName, writeRunState } from './run-state.ts';

/** The files of a run, besides its state and lock. */
const names = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  samples: 'samples.jsonl',
  tokens: 'tokens.jsonl',
  evaluations: 'evaluations.jsonl',
  log: 'log.jsonl',
  note: 'note.json',
  events: 'events',
  checkpoints: checkpointsName,
} as const;

/** Milliseconds between two writes of the phase. */
const PHASE_INTERVAL = 1000;

/** A run without a checkpoint starts again; its logs may hold an evaluation of step 0. */
const beforeFirst = -1;

/** The paths of a run’s files. */
export type RunPaths = Readonly<Record<keyof typeof names, string>>;

/** Options of `RunFolder.create`. */
export interface RunFolderOptions {
  /** The complete config, defaults included; saved as `config.json`. */
  readonly config: object;
  /** Number of newest checkpoints to keep, besides the best. */
  readonly keepCheckpoints: number;
  /** Resume the run in the folder; false by default. */
  readonly resume?: boolean;
}

/** A run on disk: config, state, logs and checkpoints. One process at a time works on it.
 *  @example
 *  const run = await RunFolder.create('runs/a', { config, keepCheckpoints: 2 });
 *  const sink = new MetricSink(run); // pass every event of the run to its handle()
 *  await run.checkpoints.save(10, (folder) => writeAdapter(folder, adapter), { isBest: true });
 *  sink.close();
 *  run.close(); */
export class RunFolder {
  readonly path: string;
  readonly paths: RunPaths;
  readonly checkpoints: CheckpointStore;
  private readonly lock: RunLock;
  private readonly phaseWrites = new Throttle(() => this.writePhase(), PHASE_INTERVAL);
  private current: RunState;
  private checkpoint: FoundCheckpoint | undefined;
  /** Files of a resumed run as they were, by path. */
  private readonly earlier = new Map<string, string>();
  private replaced: string | undefined;

  /** Starts a run in a new or empty folder, or in one whose run completed no step, or resumes the run
   *  in the folder from its latest intact checkpoint. */
  static async create(path: string, options: RunFolderOptions): Promise<RunFolder> {
    await expectPlace(path, options);
    await mkdir(path, { recursive: true });
    const lock = RunLock.acquire(path);
    try {
      const run = new RunFolder(path, { keep: options.keepCheckpoints, lock });
      await removeLeftovers(path);
      if (options.resume) await run.resume();
      else run.replaced = await makeRoom(path);
      await writeAtomically(run.paths.config, `${JSON.stringify(options.config, undefined, 2)}\n`);
      await mkdir(run.paths.checkpoints, { recursive: true });
      writeRunState(path, run.current);
      return run;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(path: string, { keep, lock }: { keep: number; lock: RunLock }) {
    this.path = path;
    this.paths = locateRunFiles(path);
    this.checkpoints = new CheckpointStore(this.paths.checkpoints, { keep });
    this.lock = lock;
    const startedAt = new Date().toISOString();
    this.current = { version, pid: process.pid, startedAt, step: 0, status: 'running' };
  }

  /** The checkpoint that the run resumed from; undefined in a new run and if none was ever saved. */
  get resumedFrom(): FoundCheckpoint | undefined {
    return this.checkpoint;
  }

  /** What happened to an earlier run in the folder, in sentences. */
  get notes(): readonly string[] {
    return this.replaced === undefined ? [] : [this.replaced];
  }

  /** Restores state and config of a run that could not be resumed. */
  async revert(): Promise<void> {
    this.phaseWrites.stop();
    for (const [path, text] of this.earlier) await writeAtomically(path, text);
  }

  /** Removes the rows of a resumed run that are newer than its checkpoint: it writes them again. */
  async truncateLogs(): Promise<void> {
    if (this.current.resumedAt === undefined) return;
    const { metrics, samples, tokens, evaluations, log } = this.paths;
    for (const path of [metrics, samples, tokens, evaluations, log]) {
      await truncateLog(path, this.checkpoint?.step ?? beforeFirst);
    }
  }

  /** The last step in the logs; undefined in a new run, whose logs are empty. */
  get resumedStep(): number | undefined {
    const isResumed = this.current.resumedAt !== undefined;
    return isResumed ? (this.checkpoint?.step ?? beforeFirst) : undefined;
  }

  get state(): RunState {
    return this.current;
  }

  /** Changes part of the state on disk. The end of a run is logged. */
  update(
    change: Partial<Pick<RunState, 'step' | 'totalSteps' | 'status' | 'message' | 'model'>>,
  ): void {
    this.current = { ...this.current, ...change };
    const isEnd = change.status !== undefined && hasEnded(this.current);
    if (isEnd) this.clearPhase();
    writeRunState(this.path, this.current);
    if (isEnd)
      this.log({ type: 'end', step: this.current.step, message: describeEnd(this.current) });
  }

  /** Shows other processes what the run is doing, about once a second. */
  showPhase(phase: NonNullable<RunState['phase']>): void {
    this.current = { ...this.current, phase };
    this.phaseWrites.request();
  }

  /** Adds a row to the run's log. */
  log(row: Omit<LogRow, 'time'>): void {
    appendLogRow(this.paths.log, row);
  }

  /** Releases the folder to other processes. May be called twice. */
  close(): void {
    this.phaseWrites.stop();
    this.lock.release();
  }

  private writePhase(): void {
    try {
      writeRunState(this.path, this.current, { sync: false });
    } catch {
      // A run must not fail because its phase cannot be shown; update() reports real problems.
    }
  }

  private clearPhase(): void {
    this.phaseWrites.stop();
    const { phase: _, ...rest } = this.current;
    this.current = rest;
  }

  private async resume(): Promise<void> {
    const earlier = await readRunState(this.path);
    expectRun(this.path, earlier);
    for (const path of [join(this.path, stateName), this.paths.config]) {
      const text = await readTextIfExists(path);
      if (text !== undefined) this.earlier.set(path, text);
    }
    this.checkpoint = await this.checkpoints.latest();
    const { startedAt } = earlier;
    const resumedAt = new Date().toISOString();
    this.current = { ...this.current, startedAt, resumedAt, step: this.checkpoint?.step ?? 0 };
  }
}

function describeEnd({ status, message = 'The run has ended' }: RunState): string {
  return status === 'failed' ? `The run failed: ${message}` : message;
}

/** The paths of a run's files. */
export function locateRunFiles(run: string): RunPaths {
  const entries = Object.entries(names).map(([key, name]) => [key, join(run, name)]);
  return Object.fromEntries(entries) as RunPaths;
}

/** The config that a run was started or last resumed with. */
export async function readRunConfig(run: string): Promise<Record<string, unknown>> {
  expectRun(run, await readRunState(run));
  const { config } = locateRunFiles(run);
  return parseJsonObject(await readFile(config, 'utf8'), config);
}

function expectRun(path: string, state: RunState | undefined): asserts state is RunState {
  if (state !== undefined) return;
  throw new Error(
    `Cannot resume ${path}: it must contain a run, got no ${stateName}; leave out --resume to start one`,
  );
}

/** Checks that a run can start in a folder or resume there, and changes nothing: throws what
 *  `RunFolder.create` would throw. Returns the checkpoint that it would resume from. */
export async function checkRunFolder(
  path: string,
  { resume = false }: Pick<RunFolderOptions, 'resume'>,
): Promise<FoundCheckpoint | undefined> {
  await expectPlace(path, { resume });
  expectUnlocked(path);
  if (resume) return new CheckpointStore(locateRunFiles(path).checkpoints, { keep: 1 }).latest();
  await expectNoRun(path);
  return undefined;
}

/** Rejects a place where no run is to resume, and one where nothing can be written. */
async function expectPlace(
  path: string,
  { resume }: Pick<RunFolderOptions, 'resume'>,
): Promise<void> {
  if (resume) expectRun(path, await readRunState(path));
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
  ...Object.values(names),
  ...[stateName, 'inputs.json', 'data.json', 'human'],
]);

/** Rejects a folder that cannot take a new run. It must be missing or empty, or its run must have
 *  completed no step, and people must have scored nothing in it. Returns the state of such a run. */
async function expectNoRun(path: string): Promise<RunState | undefined> {
  if (!(await isFolder(path))) return undefined;
  const state = await readRunState(path);
  const isOurs = (name: string) => untrainedNames.has(name) || name.endsWith('.request');
  const other = (await listEntries(path)).find((name) => state === undefined || !isOurs(name));
  if (state === undefined && other !== undefined) {
    throw new Error(
      `Cannot start a run in ${path}: it must be new or empty, got ${other} in it; choose another folder`,
    );
  }
  if (state !== undefined && (other !== undefined || !(await isUntrained(path, state)))) {
    throw new Error(
      `Cannot start a run in ${path}: it must not contain a run, got one started at ${state.startedAt}, now at step ${state.step}; ` +
        'continue it with --resume or choose another folder',
    );
  }
  return state;
}

/** Removes a run that completed no step. Returns a sentence about it. */
async function makeRoom(path: string): Promise<string | undefined> {
  const state = await expectNoRun(path);
  if (state === undefined) return undefined;
  for (const name of await listEntries(path)) await rm(join(path, name), { recursive: true });
  const { message = 'its process ended' } = state;
  return `Replaced the run of ${state.startedAt} in this folder, which had completed no step: ${message}`;
}

async function listEntries(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => name !== lockName);
}

/** Whether a run has completed no step and has no scores by people. */
async function isUntrained(path: string, { step }: RunState): Promise<boolean> {
  if (step > 0) return false;
  const scores = await statIfExists(locateHumanFiles(join(path, 'human')).scores);
  if (scores !== undefined && scores.size > 0) return false;
  const checkpoints = new CheckpointStore(locateRunFiles(path).checkpoints, { keep: 1 });
  return ((await checkpoints.latest())?.step ?? 0) === 0;
}

/** Removes files that ended processes left half written. */
async function removeLeftovers(path: string): Promise<void> {
  const leftovers = (await readdir(path)).filter((name) =>
    /\.(json|jsonl|lock)\..*tmp$/.test(name),
  );
  for (const name of leftovers) await rm(join(path, name));
}

/** Runs something immediately, then at most once per interval. A request in between runs at its end.
 *  @example requests at 0, 0.1, 0.2 and 5 s, interval 1 s  →  runs at 0, 1 and 5 s */
export class Throttle {
  private readonly run: () => void;
  private readonly interval: number;
  private timer: NodeJS.Timeout | undefined;
  private isRequested = false;

  /** @param interval milliseconds */
  constructor(run: () => void, interval: number) {
    this.run = run;
    this.interval = interval;
  }

  request(): void {
    this.isRequested = true;
    if (this.timer === undefined) this.next();
  }

  /** Drops a pending request. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isRequested = false;
  }

  private next(): void {
    this.timer = undefined;
    if (!this.isRequested) return;
    this.isRequested = false;
    this.run();
    this.timer = setTimeout(() => this.next(), this.interval);
    this.timer.unref();
  }
}
