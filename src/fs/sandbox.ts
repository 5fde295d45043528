import { getHeapStatistics } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import type { SandboxFailure, SandboxReply, SandboxRequest } from './sandbox-worker.ts';
import { startThread } from './thread.ts';

/** Work for the sandbox: an async generator that a module exports, and its input. */
export interface SandboxTask<I, T> {
  /** `import.meta.url` of the module. */
  readonly module: string;
  /** The export to run. Input and items are copied between threads. */
  readonly run: (input: I) => AsyncIterable<T>;
  readonly input: I;
  /** What fails if the task does, for errors: `Cannot read p.parquet`. */
  readonly action: string;
  /** Milliseconds that the next items may take; a minute by default. */
  readonly timeLimit?: number | undefined;
}

const program = new URL('./sandbox-worker', import.meta.url);
const defaultTimeLimit = 60_000;
/** Milliseconds that an idle thread waits for another task. It may hold garbage of the last one. */
const idleTime = 1000;
const mebi = 2 ** 20;
/** Heap of a task in MiB. Buffers are not part of it: a parser checks sizes before it allocates. */
const maxHeap = Math.min(2048, Math.floor(getHeapStatistics().heap_size_limit / mebi));

/**
 * Runs a parser of untrusted bytes in its own thread and yields what it yields. Nothing that it does
 * ends or blocks this process: a loop that never ends, a rejection that nobody handles and a full heap
 * all become one error. The thread parses ahead by one batch of items, so memory is bounded.
 */
export async function* runInSandbox<I, T>(task: SandboxTask<I, T>): AsyncGenerator<T> {
  const thread = takeThread();
  const { module, run, input } = task;
  let isReusable = false;
  try {
    let reply = thread.ask({ type: 'start', module, name: run.name, input }, task);
    for (;;) {
      const { items, isLast } = await reply;
      isReusable = isLast;
      if (!isLast) {
        reply = thread.ask({ type: 'next' }, task);
        // It is awaited after these items, if they are all read.
        reply.catch(() => {});
      }
      yield* items as readonly T[];
      if (isLast) return;
    }
  } catch (error) {
    isReusable ||= thread.hasAnswered(error);
    throw error;
  } finally {
    if (isReusable) keepThread(thread);
    else thread.stop();
  }
}

/** A thread for the next task. */
let idle: { readonly thread: SandboxThread; readonly timer: NodeJS.Timeout } | undefined;

function takeThread(): SandboxThread {
  const { thread, timer } = idle ?? {};
  idle = undefined;
  clearTimeout(timer);
  return thread === undefined || thread.hasEnded ? new SandboxThread() : thread;
}

function keepThread(thread: SandboxThread): void {
  if (idle !== undefined) {
    thread.stop();
    return;
  }
  const timer = setTimeout(() => {
    idle = undefined;
    thread.stop();
  }, idleTime).unref();
  idle = { thread, timer };
}

type Items = Extract<SandboxReply, { type: 'items' }>;

interface Pending {
  readonly action: string;
  readonly resolve: (reply: Items) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that answers one request at a time. It keeps the process alive only while it does. */
class SandboxThread {
  hasEnded = false;
  private readonly worker: Worker;
  private readonly ready: Promise<void>;
  private pending: Pending | undefined;
  /** The last error of a task that the thread survived. */
  private lastFailure: unknown;

  constructor() {
    const resourceLimits = { maxOldGenerationSizeMb: maxHeap };
    this.worker = startThread(program, { resourceLimits });
    this.ready = new Promise((resolve) => this.worker.once('message', () => resolve()));
    this.worker.on('message', (reply: SandboxReply) => this.handle(reply));
    this.worker.on('error', (error: NodeJS.ErrnoException) => this.end(error));
    this.worker.on('exit', (code) => this.end(new Error(`its thread ended with code ${code}`)));
  }

  async ask(
    request: SandboxRequest,
    {
      action,
      timeLimit = defaultTimeLimit,
    }: Pick<SandboxTask<never, never>, 'action' | 'timeLimit'>,
  ): Promise<Items> {
    this.worker.ref();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Items>((resolve, reject) => {
        this.pending = { action, resolve, reject };
        const expire = () => {
          const message = `${action}: the next part must be parsed within ${timeLimit / 1000} seconds, got nothing; the file is damaged or its parts are too large, create it again`;
          reject(new Error(message));
        };
        void this.ready.then(() => {
          this.worker.postMessage(request);
          // If this thread was busy, an answer may be waiting: it is handled before `setImmediate`.
          timer = setTimeout(() => setImmediate(expire), timeLimit);
        });
      });
    } finally {
      clearTimeout(timer);
      this.pending = undefined;
      this.worker.unref();
    }
  }

  /** Whether an error is an answer of the thread, which is then free for another task. */
  hasAnswered(error: unknown): boolean {
    return error === this.lastFailure;
  }

  stop(): void {
    this.hasEnded = true;
    void this.worker.terminate();
  }

  private handle(reply: SandboxReply): void {
    if (reply.type === 'items') this.pending?.resolve(reply);
    if (reply.type !== 'failed') return;
    const error = toError(reply.failure);
    this.lastFailure = error;
    this.pending?.reject(error);
  }

  private end(cause: NodeJS.ErrnoException): void {
    this.hasEnded = true;
    const { action, reject } = this.pending ?? {};
    const problem =
      cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? `it must be parsed with at most ${maxHeap} MiB of memory, needs more; the file is damaged or its parts are too large, split it`
        : cause.message;
    reject?.(new Error(`${action}: ${problem}`, { cause }));
  }
}

const errorClasses: Readonly<Record<string, ErrorConstructor>> = {
  RangeError,
  SyntaxError,
  TypeError,
};

function toError({ message, stack, type, fields }: SandboxFailure): Error {
  const error = new (errorClasses[type] ?? Error)(message);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, fields);
}
