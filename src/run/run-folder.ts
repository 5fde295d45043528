import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, parseJsonObject, readOwnText, writeAtomically } from '../fs/index.ts';
import { CheckpointStore, type FoundCheckpoint } from '../loop/checkpoint-store.ts';
import { version } from '../version.ts';
import { appendLogRow, type LogRow, truncateLog } from './log-files.ts';
import { countedLogs, type LogRows, noRows, readLogRows } from './log-rows.ts';
import { RunLock } from './run-lock.ts';
import {
  expectPlace,
  hasLock,
  makeRoom,
  readStartTime,
  removeLeftovers,
  runFileNames,
} from './run-place.ts';
import { hasEnded, type RunState, stateName, writeRunState } from './run-state.ts';

/** Milliseconds between two writes of the phase. */
const PHASE_INTERVAL = 1000;

/** A run without a checkpoint starts again; its logs may hold an evaluation of step 0. */
const beforeFirst = -1;

/** The paths of a run’s files. */
export type RunPaths = Readonly<Record<keyof typeof runFileNames, string>>;

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
 *  await sink.saveCheckpoint((folder) => writeAdapter(folder, adapter), { step: 10, isBest: true });
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
  private keptRows: LogRows = noRows;
  /** Files of a resumed run as they were, by path. */
  private readonly earlier = new Map<string, string>();
  private replaced: string | undefined;

  /** Starts a run in a new or empty folder, or in one whose run completed no step, or resumes the run
   *  in the folder from its latest intact checkpoint. */
  static async create(path: string, options: RunFolderOptions): Promise<RunFolder> {
    await expectPlace(path, options);
    await makeFolder(path);
    const wasLocked = await hasLock(path);
    const lock = RunLock.acquire(path);
    try {
      const run = new RunFolder(path, { keep: options.keepCheckpoints, lock });
      if (options.resume) await run.resume();
      else run.replaced = await makeRoom(path, { wasLocked });
      await removeLeftovers(path);
      // The state comes first: it says that the other files belong to a run, which may be replaced.
      writeRunState(path, run.current);
      await makeFolder(run.paths.checkpoints);
      await writeAtomically(run.paths.config, `${JSON.stringify(options.config, undefined, 2)}\n`);
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
    const { resumedStep, checkpoint, paths } = this;
    if (resumedStep === undefined) return;
    const needed = checkpoint && (await readLogRows(checkpoint.folder));
    const kept = { ...noRows };
    for (const log of countedLogs) {
      kept[log] = await truncateLog(paths[log], resumedStep, { needed: needed?.[log] });
    }
    await truncateLog(paths.log, resumedStep);
    this.keptRows = kept;
  }

  /** The rows in the logs when the run was resumed, after `truncateLogs`. */
  get resumedRows(): LogRows {
    return this.keptRows;
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
      writeRunState(this.path, this.current);
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
    const startedAt = await readStartTime(this.path);
    const { config, workers } = this.paths;
    for (const path of [join(this.path, stateName), config, workers]) {
      const text = await readOwnText(path);
      if (text !== undefined) this.earlier.set(path, text);
    }
    // It may be resumed without a queue.
    await rm(workers, { force: true });
    await this.checkpoints.clean();
    this.checkpoint = await this.checkpoints.latest();
    if (this.checkpoint !== undefined) await this.checkpoints.prune(this.checkpoint.step);
    const resumedAt = new Date().toISOString();
    this.current = { ...this.current, startedAt, resumedAt, step: this.checkpoint?.step ?? 0 };
  }
}

function describeEnd({ status, message = 'The run has ended' }: RunState): string {
  return status === 'failed' ? `The run failed: ${message}` : message;
}

/** The paths of a run's files. */
export function locateRunFiles(run: string): RunPaths {
  const entries = Object.entries(runFileNames).map(([key, name]) => [key, join(run, name)]);
  return Object.fromEntries(entries) as RunPaths;
}

/** The config that a run was started or last resumed with. */
export async function readRunConfig(run: string): Promise<Record<string, unknown>> {
  await readStartTime(run);
  const { config } = locateRunFiles(run);
  const text = await readOwnText(config);
  if (text !== undefined) return parseJsonObject(text, config);
  throw new Error(
    `Cannot resume ${run}: it must contain a config, got no ${runFileNames.config}; leave out --resume to start it again`,
  );
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
