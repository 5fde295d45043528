import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import { withoutPassword } from '../http/index.ts';
import type { BlobRef } from './blob-store.ts';
import {
  HEARTBEAT,
  PROTOCOL,
  RECORD_EXPIRY,
  type RunRecord,
  recordKeys,
  type Setup,
  type WorkerRecord,
} from './protocol.ts';
import { listWorkers } from './worker-list.ts';

/** Milliseconds without a worker or without Redis until the user is warned, and between two warnings. */
const PATIENCE = 5000;
const WARNING_INTERVAL = 60_000;

export interface AnnouncementOptions {
  readonly url: string;
  /** Identifies the run: the same when it is resumed. */
  readonly run: string;
  /** The name of the run's folder. */
  readonly name: string;
  readonly setup: Omit<Setup, 'reference'>;
  readonly warn: (message: string) => void;
}

/** What a run waits for. */
export type RunProgress = Pick<RunRecord, 'step' | 'stage' | 'done' | 'total'>;

/** Announces a run to workers while it lasts, and warns if there are none or if Redis is gone. */
export class RunAnnouncement {
  private readonly options: AnnouncementOptions;
  private readonly redis: Redis;
  private readonly setup: BlobRef;
  private readonly heartbeat: NodeJS.Timeout;
  private stage: RunProgress = { step: 0, stage: 'start', done: 0, total: 0 };
  private lastWorker = Date.now();
  private lastReady = Date.now();
  private lastWarning = 0;

  constructor(
    options: AnnouncementOptions,
    { redis, setup }: { readonly redis: Redis; readonly setup: BlobRef },
  ) {
    this.options = options;
    this.redis = redis;
    this.setup = setup;
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT);
    this.heartbeat.unref();
  }

  get progress(): RunProgress {
    return this.stage;
  }

  /** Writes the run's record, which expires if that is not repeated. */
  async announce(): Promise<void> {
    const { run: id, name, setup } = this.options;
    const record: RunRecord = {
      ...{ protocol: PROTOCOL, id, name, host: hostname(), pid: process.pid },
      ...{ setup: this.setup, machine: setup.machine, model: setup.model.name },
      ...this.stage,
    };
    await this.redis.set(recordKeys.run(id), JSON.stringify(record), 'EX', RECORD_EXPIRY);
  }

  /** Counts a job of a stage. */
  count(stage: string, { step, change }: { step: number; change: 'start' | 'end' }): void {
    if (this.stage.stage !== stage || this.stage.step !== step) {
      this.stage = { step, stage, done: 0, total: 0 };
    }
    const { done, total } = this.stage;
    this.stage =
      change === 'start' ? { ...this.stage, total: total + 1 } : { ...this.stage, done: done + 1 };
    if (change === 'end') this.lastWorker = Date.now();
  }

  /** The workers of the run and those that it refused; undefined while Redis is not connected. */
  async workers(): Promise<WorkerRecord[] | undefined> {
    if (this.redis.status !== 'ready') return undefined;
    const workers = await listWorkers(this.redis);
    return workers.filter(({ run }) => run === this.options.run);
  }

  async warnWithoutWorkers(): Promise<void> {
    const workers = (await this.workers()) ?? [];
    const refused = workers.filter(({ state }) => state === 'refused');
    if (workers.length > refused.length) this.lastWorker = Date.now();
    if (Date.now() - this.lastWorker < PATIENCE) return;
    const reasons = refused.map(({ host, message }) => `; refused: ${host} (${message})`).join('');
    this.warn(
      `No worker is connected: the run waits until one is; start one with "proximal worker --queue URL"${reasons}`,
    );
  }

  /** Withdraws the run. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    if (this.redis.status === 'ready') await this.redis.del(recordKeys.run(this.options.run));
  }

  private beat(): void {
    if (this.redis.status === 'ready') this.lastReady = Date.now();
    else if (Date.now() - this.lastReady > PATIENCE) {
      const url = withoutPassword(this.options.url);
      this.warn(`The queue ${url} does not answer: the run waits and continues when it is back`);
    }
    this.announce().catch(() => {});
  }

  private warn(message: string): void {
    if (Date.now() - this.lastWarning < WARNING_INTERVAL) return;
    this.lastWarning = Date.now();
    this.options.warn(message);
  }
}
