import { rename, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { BlobStore } from './blob-store.ts';
import { HEARTBEAT, type RunRecord, type WorkerRecord } from './protocol.ts';
import { type WorkersState, workersStateSchema } from './workers-file.ts';

/** Milliseconds until Redis counts as disconnected. */
const PATIENCE = 2000;

/** What is reported about a queue; a `QueueClient` has it. */
export interface ReportedQueue {
  readonly progress: Pick<RunRecord, 'step' | 'stage' | 'done' | 'total'>;
  readonly counts: { readonly completed: number; readonly retries: number };
  readonly blobs: Pick<BlobStore, 'traffic'>;
  /** The workers of the run and those that were refused; undefined while Redis is not connected. */
  workers(): Promise<readonly WorkerRecord[] | undefined>;
}

/** Writes `workers.json` into the folder of a run, regularly and at the end, so that the dashboard can
 *  show its workers. If that fails, the run continues without the file. */
export class WorkersReporter {
  private readonly queue: ReportedQueue;
  private readonly path: string;
  private readonly since = new Date().toISOString();
  private readonly rate = new JobRate();
  private readonly timer: NodeJS.Timeout;
  private workers: readonly WorkerRecord[] = [];
  private update: Promise<void> | undefined;

  constructor(queue: ReportedQueue, path: string) {
    this.queue = queue;
    this.path = path;
    this.timer = setInterval(() => void this.write(), HEARTBEAT);
    this.timer.unref();
    void this.write();
  }

  /** Writes the last state. Call it before the queue is closed. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.update;
    await this.write();
  }

  /** Writes the current state, unless that is under way. */
  private write(): Promise<void> {
    this.update ??= this.replaceFile()
      // A run must not fail because its workers cannot be shown.
      .catch(() => {})
      .finally(() => {
        this.update = undefined;
      });
    return this.update;
  }

  private async replaceFile(): Promise<void> {
    const state = await this.collect();
    // Parsing leaves out what is not for the file.
    const json = JSON.stringify(workersStateSchema.parse(state), undefined, 2);
    await writeFile(`${this.path}.tmp`, `${json}\n`);
    await rename(`${this.path}.tmp`, this.path);
  }

  private async collect(): Promise<WorkersState> {
    const workers = await this.listWorkers();
    if (workers !== undefined) this.workers = workers;
    const { progress, counts, blobs } = this.queue;
    const { completed: jobs, retries } = counts;
    return {
      updatedAt: new Date().toISOString(),
      since: this.since,
      connected: workers !== undefined,
      progress,
      totals: {
        jobs,
        retries,
        ...blobs.traffic,
        jobsPerSecond: this.rate.add(performance.now(), jobs),
      },
      workers: [...this.workers],
    };
  }

  /** The workers; undefined if Redis does not answer in time: its client would wait until it does. */
  private async listWorkers(): Promise<readonly WorkerRecord[] | undefined> {
    const stop = new AbortController();
    try {
      return await Promise.race([
        this.queue.workers().catch(() => undefined),
        setTimeout(PATIENCE, undefined, { signal: stop.signal, ref: false }),
      ]);
    } finally {
      stop.abort();
    }
  }
}

/** Milliseconds over which the rate is measured. */
const WINDOW = 60_000;

/** Completed jobs per second over the last minute, or since the first call.
 *  @example 0 jobs at 0 s, 20 at 10 s  →  2;  50 at 40 s, 80 at 70 s  →  (80 − 20) / (70 − 10) = 1 */
export class JobRate {
  private readonly points: { readonly time: number; readonly jobs: number }[] = [];

  /** @param time milliseconds */
  add(time: number, jobs: number): number {
    const { points } = this;
    points.push({ time, jobs });
    while (points.length > 2 && points[1]!.time <= time - WINDOW) points.shift();
    const [first] = points as [{ time: number; jobs: number }];
    const seconds = (time - first.time) / 1000;
    return seconds > 0 ? Math.max(0, jobs - first.jobs) / seconds : 0;
  }
}
