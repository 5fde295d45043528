import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { resolveModel } from '../base-setup/hub/index.ts';
import { readModelHeader } from '../models/decoder/load-model.ts';
import { decodeBlob } from './blob.ts';
import { BlobStore } from './blob-store.ts';
import { compareMachines, describeMachine } from './machine.ts';
import {
  HEARTBEAT,
  jobResultSchema,
  type Machine,
  PROTOCOL,
  processVariables,
  queueName,
  RECORD_EXPIRY,
  type RunRecord,
  recordKeys,
  type Setup,
  setupSchema,
  type WorkerRecord,
} from './protocol.ts';
import { withPassword } from './queue-url.ts';
import { checkRedis, createClient, isTransient } from './redis.ts';
import { listRuns } from './worker-list.ts';

/** Milliseconds that a job stays reserved for a worker that has disappeared, and between two searches
 *  for such jobs. */
const LOCK_DURATION = 6000;
const STALLED_INTERVAL = 2000;
/** How often the workers of a job may disappear: that is not the job's fault. */
const MAX_STALLED = 50;
/** Milliseconds between two looks for a run. */
const LOOK_INTERVAL = 1000;

/** The first module of the child process. A worker that was killed cannot stop its child, not even while
 *  the child starts. The child then fails to write to its worker, which BullMQ reports to the worker, and
 *  so on; the event loop never gets to the end of the channel. */
const END_WITH_WORKER = `data:text/javascript,${encodeURIComponent(`
const end = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', end);
// The worker completes its job when the terminal is closed.
process.on('SIGHUP', () => {});
process.on('uncaughtException', ({ code }) => {
  if (!process.connected || code === 'EPIPE' || code === 'ERR_IPC_CHANNEL_CLOSED') end();
});
`)}`;

export interface WorkerOptions {
  readonly url: string;
  /** The base on this machine: a folder or a hub id; by default what the run names. */
  readonly model?: string | undefined;
  /** Threads inside one operation; by default the trainer's number, which gives the same bits. */
  readonly threads?: number | undefined;
  /** Work although results may differ in their last bits. */
  readonly allowMixed?: boolean | undefined;
  readonly onMessage: (message: string) => void;
}

type State = Pick<WorkerRecord, 'state'> & Partial<Pick<WorkerRecord, 'run' | 'message'>>;

/** A worker: finds a run in Redis, checks that it computes the same bits, and runs its jobs in a child
 *  process until the run ends; then it looks for the next one. */
export class QueueWorker {
  readonly id = randomUUID();
  private readonly options: WorkerOptions;
  private readonly redis: Redis;
  private readonly since = new Date();
  private readonly stop = new AbortController();
  private readonly totals = { jobs: 0, failed: 0, busy: 0, sent: 0, received: 0 };
  private joined = Date.now();
  private current: State = { state: 'waiting' };
  /** Why runs refused this worker, by the hash of their setup. */
  private readonly refusals = new Map<string, string>();

  static async connect(options: WorkerOptions): Promise<QueueWorker> {
    const version = await checkRedis(options.url);
    options.onMessage(`Connected to Redis ${version}, waiting for a run`);
    return new QueueWorker(options);
  }

  private constructor(options: WorkerOptions) {
    this.options = options;
    this.redis = createClient(options.url);
  }

  /** Works until `drain` is called. */
  async work(): Promise<void> {
    const heartbeat = setInterval(() => void this.register().catch(() => {}), HEARTBEAT);
    try {
      while (!this.stop.signal.aborted) {
        try {
          await this.register();
          const run = await this.findRun();
          if (run === undefined) await this.pause(LOOK_INTERVAL);
          else await this.workFor(run);
        } catch (error) {
          if (!isTransient(error)) throw error;
          await this.pause(LOOK_INTERVAL);
        }
      }
    } finally {
      clearInterval(heartbeat);
      if (this.redis.status === 'ready') await this.redis.del(recordKeys.worker(this.id));
      this.redis.disconnect();
    }
  }

  /** Ends the worker after its current job. */
  drain(): void {
    if (this.stop.signal.aborted) return;
    this.options.onMessage('Draining: the current job is completed first');
    this.show({ ...this.current, state: 'draining' });
    this.stop.abort();
  }

  /** The first run that accepts this worker. */
  private async findRun(): Promise<{ record: RunRecord; setup: Setup } | undefined> {
    for (const record of await listRuns(this.redis)) {
      if (this.refusals.has(record.setup.sha256)) continue;
      this.show({ state: 'loading', message: `checking the base of ${record.name}` });
      const bytes = await new BlobStore(this.redis).get(record.setup).catch(() => undefined);
      // The run has ended, or is about to send its setup again.
      if (bytes === undefined) continue;
      const { data: setup } = setupSchema.safeParse(await decodeBlob(bytes).catch(() => undefined));
      const reason = await this.refusal(record.machine, setup);
      if (reason === undefined) return { record, setup: setup! };
      this.refuse(record, reason);
    }
    if (this.current.state === 'loading') this.show({ state: 'waiting' });
    return undefined;
  }

  private refuse({ id: run, setup, name }: RunRecord, reason: string): void {
    this.refusals.set(setup.sha256, reason);
    this.show({ state: 'refused', run, message: reason });
    this.options.onMessage(`Refused by run ${name}: ${reason}`);
  }

  /** Why this worker must not work for a run; undefined if it may. */
  private async refusal(machine: Machine, setup: Setup | undefined): Promise<string | undefined> {
    const { threads = machine.threads, allowMixed = false } = this.options;
    const differences = compareMachines(machine, { ...describeMachine(), threads }).join('; ');
    if (differences !== '' && !allowMixed) {
      return `${differences}; use the same, or accept other bits with --allow-mixed`;
    }
    if (setup === undefined) {
      return `its jobs must be those of version ${describeMachine().version}, got others; install the version of the trainer`;
    }
    const problem = await this.checkBase(setup.model);
    if (problem === undefined && differences !== '') {
      this.options.onMessage(`Warning: results may differ in their last bits: ${differences}`);
    }
    return problem;
  }

  private async checkBase({ name, revision, fingerprint }: Setup['model']) {
    const place = this.options.model ?? name;
    try {
      const folder = await resolveModel(place, revision === undefined ? {} : { revision });
      const own = await (await readModelHeader(folder)).base.fingerprint();
      if (own.weights === fingerprint.weights) return undefined;
      return `the base must have the fingerprint ${fingerprint.weights.slice(0, 12)}…, got ${own.weights.slice(0, 12)}… of ${place}; pass --model with the trainer's base`;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return `the base ${place} cannot be read (${reason}); pass --model with its place on this machine`;
    }
  }

  /** Runs the jobs of a run until it ends or this worker does. */
  private async workFor({ record, setup }: { record: RunRecord; setup: Setup }): Promise<void> {
    const { url, model, threads = setup.machine.threads, onMessage } = this.options;
    this.joined = Date.now();
    Object.assign(this.totals, { jobs: 0, failed: 0, busy: 0, sent: 0, received: 0 });
    this.show({ state: 'idle', run: record.id });
    onMessage(`Joined run ${record.name} with ${threads} ${threads === 1 ? 'thread' : 'threads'}`);
    const connection = createClient(url);
    const worker = new Worker(queueName(record.id), processorUrl(), {
      connection,
      ...{ concurrency: 1, lockDuration: LOCK_DURATION },
      ...{ stalledInterval: STALLED_INTERVAL, maxStalledCount: MAX_STALLED },
      workerForkOptions: {
        execArgv: ['--import', END_WITH_WORKER, ...(runsSources() ? ['--import', tsxUrl()] : [])],
        env: {
          ...process.env,
          PROXIMAL_THREADS: String(threads),
          [processVariables.url]: withPassword(url),
          ...(model !== undefined && { [processVariables.model]: model }),
        },
      },
    });
    this.listen(worker, record);
    while (!this.stop.signal.aborted && (await this.isActive(record))) await this.pause(HEARTBEAT);
    await worker.close();
    connection.disconnect();
    if (this.stop.signal.aborted) return;
    this.show({ state: 'waiting' });
    onMessage(`Run ${record.name} has ended, waiting for another`);
  }

  private listen(worker: Worker, { id: run, name }: RunRecord): void {
    const { totals, options } = this;
    worker.on('active', (job) =>
      this.show({ state: 'busy', run, message: `${job.name} of step ${job.data.step + 1}` }),
    );
    worker.on('completed', (job, value) => {
      const { data } = jobResultSchema.safeParse(value);
      totals.jobs++;
      totals.busy += data?.busy ?? 0;
      totals.sent += data?.sent ?? 0;
      totals.received += data?.received ?? 0;
      this.show({ state: 'idle', run });
      options.onMessage(`${name}: ${job.name} ${job.data.part} of step ${job.data.step + 1} done`);
    });
    worker.on('failed', (job, error) => {
      totals.failed++;
      this.show({ state: 'idle', run });
      options.onMessage(`${name}: ${job?.name ?? 'a job'} failed: ${error.message}`);
    });
    // BullMQ reports lost connections here and reconnects.
    worker.on('error', () => {});
  }

  private async isActive({ id }: RunRecord): Promise<boolean> {
    return (await this.redis.exists(recordKeys.run(id))) === 1;
  }

  private show(state: State): void {
    this.current = this.stop.signal.aborted ? { ...state, state: 'draining' } : state;
    this.register().catch(() => {});
  }

  private async register(): Promise<void> {
    const record: WorkerRecord = {
      ...{ protocol: PROTOCOL, id: this.id, host: hostname(), pid: process.pid },
      ...{ machine: describeMachine(), since: this.since.toISOString() },
      ...this.current,
      ...this.totals,
      wall: Date.now() - this.joined,
    };
    const key = recordKeys.worker(this.id);
    await this.redis.set(key, JSON.stringify(record), 'EX', RECORD_EXPIRY);
  }

  /** Waits, but not after `drain`. */
  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.stop;
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  }
}

/** The file that the child process runs: the source in a clone, the built file in the package. */
function processorUrl(): URL {
  return new URL(`./job-process.${runsSources() ? 'ts' : 'js'}`, import.meta.url);
}

/** The loader of TypeScript, which only a clone needs. */
function tsxUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}

function runsSources(): boolean {
  return fileURLToPath(import.meta.url).endsWith('.ts');
}
