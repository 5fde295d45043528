import { type Job, Queue, QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import { decodeBlob, encodeBlob, hashBytes } from './blob.ts';
import { type BlobRef, BlobStore, refOf } from './blob-store.ts';
import { saveFailedJob } from './failed-job.ts';
import { type JobKind, type JobValues, outputSchemas } from './job-values.ts';
import {
  type JobData,
  jobResultSchema,
  PROTOCOL,
  queueName,
  type WorkerRecord,
} from './protocol.ts';
import { checkRedis, createClient, explainRedisError, isTransient, QueueError } from './redis.ts';
import { type AnnouncementOptions, RunAnnouncement, type RunProgress } from './run-announcement.ts';

/** Attempts until a job counts as poisoned. */
const ATTEMPTS = 3;
/** Milliseconds between two looks at a job whose end was not reported. */
const POLL = 3000;
/** Milliseconds until a command is repeated that Redis rejected while it started. */
const RETRY_DELAY = 500;
/** Seconds that Redis keeps finished jobs. */
const KEEP_FINISHED = 3600;

export interface QueueClientOptions extends AnnouncementOptions {
  /** The encoded adapter of the reference, if it has one. */
  readonly reference?: Buffer | undefined;
  /** Where the input of a job is saved that fails on every worker. */
  readonly failedFolder: string;
}

/** A job and the weights that it needs. */
export interface JobRequest<K extends JobKind> {
  readonly kind: K;
  readonly step: number;
  /** Number of the shard or micro-batch. */
  readonly part: number;
  readonly input: JobValues[K]['input'];
  /** Encoded weights by role. */
  readonly roles: Partial<Readonly<Record<'policy' | 'value' | 'reward', Buffer>>>;
  readonly signal?: AbortSignal | undefined;
}

/** What a run has sent through its queue. */
export interface QueueCounts {
  jobs: number;
  completed: number;
  retries: number;
}

/** A trainer's side of the queue: announces the run, sends jobs and waits for their results. */
export class QueueClient {
  readonly blobs: BlobStore;
  readonly counts: QueueCounts = { jobs: 0, completed: 0, retries: 0 };
  private readonly options: QueueClientOptions;
  private readonly redis: Redis;
  /** Events are read by a command that waits, on its own connection. */
  private readonly eventRedis: Redis;
  private readonly queue: Queue;
  private readonly events: QueueEvents;
  private readonly setup: BlobRef;
  private readonly reference: BlobRef | undefined;
  private readonly announcement: RunAnnouncement;
  /** The weights of each role that were sent last. */
  private readonly sentRoles = new Map<string, BlobRef>();
  /** Number of jobs that read an input, by its hash. */
  private readonly users = new Map<string, number>();

  /** Connects to Redis and announces the run to workers. */
  static async connect(options: QueueClientOptions): Promise<QueueClient> {
    await checkRedis(options.url);
    const redis = createClient(options.url);
    try {
      const blobs = new BlobStore(redis);
      const shared = await putShared(blobs, options);
      const connection = redis;
      const name = queueName(options.run);
      const eventRedis = createClient(options.url);
      const events = new QueueEvents(name, { connection: eventRedis });
      // BullMQ reports lost connections here; jobs are polled meanwhile.
      events.on('error', () => {});
      await events.waitUntilReady();
      const queue = new Queue(name, { connection });
      queue.on('error', () => {});
      const client = new QueueClient(options, {
        redis,
        eventRedis,
        blobs,
        queue,
        events,
        ...shared,
      });
      await client.announcement.announce();
      return client;
    } catch (error) {
      redis.disconnect();
      throw explainRedisError(error, { url: options.url, action: 'announce the run' });
    }
  }

  private constructor(
    options: QueueClientOptions,
    parts: {
      redis: Redis;
      eventRedis: Redis;
      blobs: BlobStore;
      queue: Queue;
      events: QueueEvents;
      setup: BlobRef;
      reference: BlobRef | undefined;
    },
  ) {
    this.options = options;
    this.redis = parts.redis;
    this.eventRedis = parts.eventRedis;
    this.blobs = parts.blobs;
    this.queue = parts.queue;
    this.events = parts.events;
    this.events.setMaxListeners(0);
    this.setup = parts.setup;
    this.reference = parts.reference;
    this.announcement = new RunAnnouncement(options, parts);
    // A worker failed or disappeared, and BullMQ gives the job to another one.
    for (const event of ['stalled', 'delayed'] as const) {
      this.events.on(event, () => void this.counts.retries++);
    }
  }

  /** Sends a job and waits for its result, however often workers come and go. */
  async run<K extends JobKind>(request: JobRequest<K>): Promise<JobValues[K]['output']> {
    const { kind, step } = request;
    this.announcement.count(kind, { step, change: 'start' });
    const input = encodeBlob(request.input);
    const data = await this.dataOf(request, input);
    const id = hashBytes(JSON.stringify(data));
    this.counts.jobs++;
    this.users.set(data.input.sha256, this.usersOf(data.input) + 1);
    try {
      return await this.complete(id, { data, input, request });
    } finally {
      await this.release(data.input);
    }
  }

  /** Sends a job until it has a result. */
  private async complete<K extends JobKind>(
    id: string,
    job: { data: JobData; input: Buffer; request: JobRequest<K> },
  ): Promise<JobValues[K]['output']> {
    const { kind, step, signal } = job.request;
    for (;;) {
      signal?.throwIfAborted();
      try {
        const output = await this.attempt(id, job);
        if (output === undefined) continue;
        this.counts.completed++;
        this.announcement.count(kind, { step, change: 'end' });
        return output;
      } catch (error) {
        // Redis is starting again.
        if (!isTransient(error)) throw error;
        await pause(RETRY_DELAY);
      }
    }
  }

  private usersOf({ sha256 }: BlobRef): number {
    return this.users.get(sha256) ?? 0;
  }

  /** Removes an input that no other job reads: several reward models read the same texts. */
  private async release(input: BlobRef): Promise<void> {
    const users = this.usersOf(input) - 1;
    if (users > 0) this.users.set(input.sha256, users);
    else {
      this.users.delete(input.sha256);
      if (this.redis.status === 'ready') await this.blobs.remove(input);
    }
  }

  /** The result of a job, or undefined if it must be sent again. */
  private async attempt<K extends JobKind>(
    id: string,
    job: { data: JobData; input: Buffer; request: JobRequest<K> },
  ): Promise<JobValues[K]['output'] | undefined> {
    const sent = await this.send(id, job);
    const finished = await this.wait(sent, job.request);
    if (finished === undefined) return undefined;
    const { output } = jobResultSchema.parse(finished);
    // A trainer that was killed may have read the result before.
    if (!(await this.blobs.has(output))) {
      await sent.remove();
      return undefined;
    }
    const bytes = await this.blobs.get(output);
    const value = outputSchemas[job.request.kind].parse(await decodeBlob(bytes));
    await this.blobs.remove(output);
    return value as JobValues[K]['output'];
  }

  /** What the run waits for. */
  get progress(): RunProgress {
    return this.announcement.progress;
  }

  /** The workers of the run and those that it refused; undefined while Redis is not connected. */
  workers(): Promise<WorkerRecord[] | undefined> {
    return this.announcement.workers();
  }

  /** Withdraws the run: workers look for another one. */
  async close(): Promise<void> {
    const { queue, events, redis } = this;
    await this.announcement.close();
    const isConnected = redis.status === 'ready';
    if (isConnected) {
      await queue.obliterate({ force: true }).catch(() => {});
      await Promise.all(
        [this.setup, ...this.sentRoles.values()].map((ref) => this.blobs.remove(ref)),
      );
    }
    await events.close().catch(() => {});
    await queue.close().catch(() => {});
    if (isConnected) await redis.del(queue.toKey('meta'));
    // BullMQ leaves connections open that it was given.
    this.eventRedis.disconnect();
    redis.disconnect();
  }

  private async dataOf<K extends JobKind>(
    { kind, step, part, roles }: JobRequest<K>,
    input: Buffer,
  ): Promise<JobData> {
    const refs: Record<string, BlobRef> = {};
    for (const [role, bytes] of Object.entries(roles)) refs[role] = refOf(bytes);
    return {
      ...{ protocol: PROTOCOL, run: this.options.run, step, kind, part, setup: this.setup },
      ...refs,
      input: refOf(input),
    };
  }

  /** Adds a job with its blobs, unless Redis knows it. A failure of an earlier process is forgotten. */
  private async send<K extends JobKind>(
    id: string,
    { data, input, request }: { data: JobData; input: Buffer; request: JobRequest<K> },
  ): Promise<Job> {
    try {
      const known = await this.queue.getJob(id);
      if (known !== undefined) {
        const state = await known.getState();
        if (state === 'completed') return known;
        if (state === 'failed') await known.remove();
      }
      await this.blobs.put(input);
      await putShared(this.blobs, this.options);
      for (const [role, bytes] of Object.entries(request.roles)) await this.sendRole(role, bytes);
      return await this.queue.add(request.kind, data, {
        jobId: id,
        attempts: ATTEMPTS,
        backoff: { type: 'fixed', delay: 500 },
        removeOnComplete: { age: KEEP_FINISHED },
        removeOnFail: { age: KEEP_FINISHED },
      });
    } catch (error) {
      throw explainRedisError(error, { url: this.options.url, action: 'send a job' });
    }
  }

  /** Sends the weights of a role. Those of a trained one before are removed: no job needs them any more. */
  private async sendRole(role: string, bytes: Buffer): Promise<void> {
    const ref = await this.blobs.put(bytes);
    const key = role === 'reward' ? `${role} ${ref.sha256}` : role;
    const before = this.sentRoles.get(key);
    this.sentRoles.set(key, ref);
    if (before !== undefined && before.sha256 !== ref.sha256) await this.blobs.remove(before);
  }

  /** The result of a job, or undefined if it must be sent again. */
  private async wait<K extends JobKind>(job: Job, request: JobRequest<K>): Promise<unknown> {
    const { signal } = request;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await untilAborted(job.waitUntilFinished(this.events, POLL), signal);
      } catch (error) {
        signal?.throwIfAborted();
        const state = await job.getState();
        if (state === 'unknown') return undefined;
        if (state === 'failed') {
          const found = await this.queue.getJob(job.id!);
          const reason = found?.failedReason ?? String(error);
          // A worker found a blob missing: it expired, or Redis lost it.
          if (/it is not in Redis any more/.test(reason)) return undefined;
          throw await this.giveUp(reason, request);
        }
        await this.announcement.warnWithoutWorkers();
      }
    }
  }

  private async giveUp<K extends JobKind>(reason: string, request: JobRequest<K>) {
    const { failedFolder: folder, setup } = this.options;
    const { kind, step, part, input, roles } = request;
    const blobs = { input: encodeBlob(input), setup: encodeBlob(setup), ...roles };
    await saveFailedJob(folder, { about: { kind, step, part, reason }, blobs });
    return new QueueError(
      `Cannot complete step ${step + 1}: job ${kind} ${part} must succeed on a worker, got ${ATTEMPTS} failures, the last: ${reason}; its input is in ${folder}, and --resume tries again`,
    );
  }
}

/** Stores what all jobs of a run share. */
async function putShared(
  blobs: BlobStore,
  options: Pick<QueueClientOptions, 'setup' | 'reference'>,
): Promise<{ readonly setup: BlobRef; readonly reference: BlobRef | undefined }> {
  const reference = options.reference && (await blobs.put(options.reference));
  const setup = await blobs.put(encodeBlob({ ...options.setup, ...(reference && { reference }) }));
  return { setup, reference };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
