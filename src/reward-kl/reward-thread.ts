import type { Worker } from 'node:worker_threads';
import { startThread } from '../fs/index.ts';
import { describeThrown } from './describe-failure.ts';
import {
  RewardError,
  type RewardSample,
  type RewardScore,
  type ScoreContext,
} from './reward-source.ts';
import type {
  WorkerFailure,
  WorkerInput,
  WorkerMessage,
  WorkerRequest,
  WorkerSource,
} from './reward-worker.ts';

/** One source's samples that the thread is scoring. */
interface PendingScores {
  readonly worker: Worker;
  /** The source's name. */
  readonly name: string;
  readonly context: ScoreContext;
  readonly resolve: (scores: readonly RewardScore[]) => void;
  readonly reject: (error: unknown) => void;
}

const program = new URL('./reward-worker', import.meta.url);

/** Milliseconds between a reward's abort signal and the end of its thread. */
const GRACE = 100;

/**
 * Runs a reward file, or a reward of the library, in its own thread, so that a reward that never returns
 * can be stopped. The thread starts with the first call, is reused, and does not keep the process alive.
 * What a file prints goes to standard error, so that standard output has results only.
 */
export class RewardThread {
  private readonly input: WorkerInput;
  /** What errors call it. */
  private readonly label: string;
  private running: Running | undefined;
  private readonly pending = new Map<number, PendingScores>();
  private nextId = 0;
  /** Why the thread ended while it had nothing to do. */
  private lateFailure: Error | undefined;

  constructor(input: WorkerInput) {
    this.input = input;
    this.label = 'file' in input ? input.file : `the reward ${input.name}`;
  }

  /** Loads the rewards. Returns their sources, or undefined if it exports a reward model. */
  async load(signal?: AbortSignal): Promise<readonly WorkerSource[] | undefined> {
    const stop = () => this.stop();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    try {
      return (await this.start().loaded).sources;
    } catch (error) {
      this.stop();
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Scores samples with one of the sources. If the signal fires, the thread ends, because nothing
   *  else stops a reward that never returns; the next call starts another one. */
  async score(
    source: { readonly index: number; readonly name: string },
    samples: readonly RewardSample[],
    context: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const { signal } = context;
    signal.throwIfAborted();
    if (this.lateFailure !== undefined) throw this.lateFailure;
    const id = this.nextId++;
    const abort = () => this.abort(id);
    signal.addEventListener('abort', abort, { once: true });
    const { worker, loaded } = this.start();
    try {
      return await new Promise<readonly RewardScore[]>((resolve, reject) => {
        this.pending.set(id, { worker, name: source.name, context, resolve, reject });
        const request: WorkerRequest = {
          ...{ type: 'score', id, source: source.index },
          samples: samples.map(detach),
        };
        loaded.then(() => worker.postMessage(request)).catch(reject);
      });
    } finally {
      signal.removeEventListener('abort', abort);
      this.pending.delete(id);
      if (this.pending.size === 0) this.running?.worker.unref();
    }
  }

  /** Ends the thread. */
  stop(): void {
    const { worker } = this.running ?? {};
    this.running = undefined;
    void worker?.terminate();
  }

  private abort(id: number): void {
    const { worker, context, reject } = this.pending.get(id)!;
    reject(context.signal.reason);
    if (this.running?.worker === worker) this.running = undefined;
    worker.postMessage({ type: 'abort', id } satisfies WorkerRequest);
    setTimeout(() => void worker.terminate(), GRACE).unref();
  }

  private start(): Running {
    this.running ??= this.open();
    this.running.worker.ref();
    return this.running;
  }

  private open(): Running {
    const worker = startThread(program, { workerData: this.input });
    const loaded = new Promise<Loaded>((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        if (message.type === 'loaded') resolve(message);
        else if (message.type === 'loaded-model-class') resolve({ sources: undefined });
        else if (message.type === 'load-failed') reject(toError(Error, message.failure));
        else this.handle(message);
      });
      const end = (problem: string, cause?: unknown) => {
        reject(new Error(`Cannot load ${this.label}: ${problem}`, { cause }));
        this.end(worker, { problem, cause });
      };
      worker.on('error', (error) => end(describeThrown(error), error));
      worker.on('exit', (code) => end(`its thread ended with code ${code}`));
    });
    // A caller that was aborted no longer waits for it.
    loaded.catch(() => {});
    return { worker, loaded };
  }

  private handle(message: Exclude<WorkerMessage, { type: `load${string}` }>): void {
    if (message.type === 'output') {
      process.stderr.write(message.text);
      return;
    }
    const { id } = message;
    const request = this.pending.get(id);
    if (request === undefined) return;
    const { context } = request;
    if (message.type === 'scores') request.resolve(message.scores);
    else if (message.type === 'failed') request.reject(toError(RewardError, message.failure));
    else if (message.type === 'scored') context.onScored?.(message.index);
    else context.onActive?.();
    // Sources share the thread: while one runs, the others cannot. Their timeouts start again after its
    // own, so that the one that hangs is reported.
    for (const [other, { context: waiting }] of this.pending)
      if (other !== id) waiting.onActive?.();
  }

  /** Rejects all requests of a thread that ended. */
  private end(worker: Worker, { problem, cause }: { problem: string; cause: unknown }): void {
    const failed = [...this.pending.values()].filter((request) => request.worker === worker);
    for (const { name, reject } of failed) {
      reject(new RewardError(`Cannot score with "${name}": ${problem}`, { cause }));
    }
    if (this.running?.worker !== worker) return;
    this.running = undefined;
    if (failed.length > 0) return;
    this.lateFailure = new RewardError(`Cannot use ${this.label}: ${problem}`, { cause });
  }
}

interface Running {
  readonly worker: Worker;
  readonly loaded: Promise<Loaded>;
}

interface Loaded {
  /** Undefined if the file exports a reward model. */
  readonly sources: readonly WorkerSource[] | undefined;
}

/** A copy of a sample to send: views would send their whole buffers. */
function detach(sample: RewardSample): RewardSample {
  const { promptTokens, tokens } = sample;
  return { ...sample, promptTokens: promptTokens.slice(), tokens: tokens.slice() };
}

function toError(
  Class: new (message: string, options: ErrorOptions) => Error,
  { message, stack }: WorkerFailure,
): Error {
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  return new Class(message, { cause });
}
