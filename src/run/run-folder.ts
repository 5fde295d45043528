import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJsonObject, writeAtomically } from '../fs/index.ts';
import { version } from '../version.ts';
import { CheckpointStore, type FoundCheckpoint } from './checkpoint-store.ts';
import { cutJsonl } from './cut-jsonl.ts';
import { expectNoRun, removeLeftovers } from './folder-contents.ts';
import { RunLock } from './run-lock.ts';
import { appendLogRow, type LogRow } from './run-log.ts';
import { hasEnded, type RunState, readRunState, stateName, writeRunState } from './run-state.ts';
import { Throttle } from './throttle.ts';

/** What lies in a run's folder, besides its state and lock. */
const names = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  samples: 'samples.jsonl',
  tokens: 'tokens.jsonl',
  evaluations: 'evaluations.jsonl',
  log: 'log.jsonl',
  events: 'events',
  checkpoints: 'checkpoints',
} as const;

/** Milliseconds between two phases that are shown. */
const PHASE_INTERVAL = 1000;

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
  private readonly phases = new Throttle(() => this.writePhase(), PHASE_INTERVAL);
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
      else await expectNoRun(path);
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

  /** Changes the state on the disk; the rest of it stays. The end of a run is logged. */
  update(change: Partial<Pick<RunState, 'step' | 'totalSteps' | 'status' | 'message'>>): void {
    this.current = { ...this.current, ...change };
    const isEnd = change.status !== undefined && hasEnded(this.current);
    if (isEnd) this.forgetPhase();
    writeRunState(this.path, this.current);
    if (isEnd)
      this.log({ type: 'end', step: this.current.step, message: describeEnd(this.current) });
  }

  /** Shows other processes what the run is at, about once a second. */
  showPhase(phase: NonNullable<RunState['phase']>): void {
    this.current = { ...this.current, phase };
    this.phases.ask();
  }

  /** Adds a row to the run's log. */
  log(row: Omit<LogRow, 'time'>): void {
    appendLogRow(this.paths.log, row);
  }

  /** Lets other processes in; may be called twice. */
  close(): void {
    this.phases.stop();
    this.lock.release();
  }

  private writePhase(): void {
    try {
      writeRunState(this.path, this.current, { sync: false });
    } catch {
      // No run ends because it cannot show its phase: what must be written is written by update().
    }
  }

  private forgetPhase(): void {
    this.phases.stop();
    const { phase: _, ...rest } = this.current;
    this.current = rest;
  }

  private async resume(): Promise<void> {
    const earlier = await readRunState(this.path);
    expectRun(this.path, earlier);
    this.from = await this.checkpoints.latest();
    const { metrics, samples, tokens, evaluations, log } = this.paths;
    for (const path of [metrics, samples, tokens, evaluations, log]) {
      await cutJsonl(path, this.from?.step ?? beforeFirst);
    }
    const { startedAt } = earlier;
    const resumedAt = new Date().toISOString();
    this.current = { ...this.current, startedAt, resumedAt, step: this.from?.step ?? 0 };
  }
}

function describeEnd({ status, message = 'The run has ended' }: RunState): string {
  return status === 'failed' ? `The run failed: ${message}` : message;
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
