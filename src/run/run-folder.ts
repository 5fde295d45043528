import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJsonObject } from '../base-setup/parse-json-object.ts';
import { writeAtomically } from '../base-setup/safetensors/atomic-file.ts';
import { version } from '../version.ts';
import { CheckpointStore, type FoundCheckpoint } from './checkpoint-store.ts';
import { cutJsonl } from './cut-jsonl.ts';
import { lockName, RunLock } from './run-lock.ts';
import { type RunState, readRunState, stateName, writeRunState } from './run-state.ts';

/** What lies in a run's folder, besides its state and lock. */
const names = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  samples: 'samples.jsonl',
  evaluations: 'evaluations.jsonl',
  events: 'events',
  checkpoints: 'checkpoints',
} as const;

/** A run without a checkpoint starts again; step 0 may have been evaluated. */
const beforeFirst = -1;

export type RunPaths = Readonly<Record<keyof typeof names, string>>;

export interface RunFolderOptions {
  /** Every value with its default filled in; kept as `config.json`. */
  readonly config: object;
  /** Newest checkpoints that are kept, besides the best. */
  readonly keepCheckpoints: number;
  /** Go on with the run that the folder holds; false by default. */
  readonly resume?: boolean;
}

/** A run on the disk: its config, state, logs and checkpoints, held by one process at a time.
 *  @example
 *  const run = await RunFolder.create('runs/a', { config, keepCheckpoints: 2 });
 *  const sink = new MetricSink(run); // its handle() takes every event of the run
 *  await run.checkpoints.save(10, (folder) => writeAdapter(folder, adapter), { isBest: true });
 *  sink.close();
 *  run.close(); */
export class RunFolder {
  readonly path: string;
  readonly paths: RunPaths;
  readonly checkpoints: CheckpointStore;
  private readonly lock: RunLock;
  private current: RunState;
  private from: FoundCheckpoint | undefined;

  /** Starts a run in a folder that is new or empty, or resumes the one in it: its logs then end
   *  where its latest whole checkpoint was saved. */
  static async create(path: string, options: RunFolderOptions): Promise<RunFolder> {
    if (options.resume) expectRun(path, await readRunState(path));
    await mkdir(path, { recursive: true });
    const lock = RunLock.acquire(path);
    try {
      const run = new RunFolder(path, { keep: options.keepCheckpoints, lock });
      await removeLeftovers(path);
      if (options.resume) await run.resume();
      else await expectEmpty(path);
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

  /** What was resumed from; undefined in a new run, and where the first checkpoint was never reached. */
  get resumedFrom(): FoundCheckpoint | undefined {
    return this.from;
  }

  /** The last step that the logs hold; undefined in a new run, whose logs are empty. */
  get resumedStep(): number | undefined {
    return this.current.resumedAt === undefined ? undefined : (this.from?.step ?? beforeFirst);
  }

  get state(): RunState {
    return this.current;
  }

  /** Changes the state on the disk; the rest of it stays. */
  update(change: Partial<Pick<RunState, 'step' | 'totalSteps' | 'status' | 'message'>>): void {
    this.current = { ...this.current, ...change };
    writeRunState(this.path, this.current);
  }

  /** Lets other processes in; may be called twice. */
  close(): void {
    this.lock.release();
  }

  private async resume(): Promise<void> {
    const earlier = await readRunState(this.path);
    expectRun(this.path, earlier);
    this.from = await this.checkpoints.latest();
    const { metrics, samples, evaluations } = this.paths;
    for (const path of [metrics, samples, evaluations]) {
      await cutJsonl(path, this.from?.step ?? beforeFirst);
    }
    const { startedAt } = earlier;
    const resumedAt = new Date().toISOString();
    this.current = { ...this.current, startedAt, resumedAt, step: this.from?.step ?? 0 };
  }
}

/** Where the files of a run lie. */
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
    `Cannot resume ${path}: it must hold a run, got no ${stateName}; leave out --resume to start one`,
  );
}

/** Removes files that ended processes left half written. */
async function removeLeftovers(path: string): Promise<void> {
  const leftovers = (await readdir(path)).filter((name) =>
    /\.(json|jsonl|lock)\..*tmp$/.test(name),
  );
  for (const name of leftovers) await rm(join(path, name));
}

async function expectEmpty(path: string): Promise<void> {
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
