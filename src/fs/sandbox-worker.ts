import { parentPort } from 'node:worker_threads';

// The program of the thread that `runInSandbox` starts: it runs one task at a time.

/** Messages to the thread. */
export type SandboxRequest =
  | {
      readonly type: 'start';
      /** URL of the module that exports the task. */
      readonly module: string;
      readonly name: string;
      readonly input: unknown;
    }
  /** Asks for the next items of the task. */
  | { readonly type: 'next' };

/** Messages from the thread: one when it is ready, then one per request. */
export type SandboxReply =
  | { readonly type: 'ready' }
  | { readonly type: 'items'; readonly items: readonly unknown[]; readonly isLast: boolean }
  | { readonly type: 'failed'; readonly failure: SandboxFailure };

/** An error as data. */
export interface SandboxFailure {
  readonly message: string;
  readonly stack: string | undefined;
  /** The built-in class, such as `RangeError`. */
  readonly type: string;
  /** Further fields, such as the `code` and `path` of a system error. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Items of one message: at most this many, or as many as there are after some milliseconds. */
const batch = { items: 256, milliseconds: 20 };

let task: AsyncIterator<unknown> | undefined;
/** The error of the task, if items before it had to be sent first. */
let heldError: { readonly thrown: unknown } | undefined;
const post = (reply: SandboxReply) => parentPort!.postMessage(reply);

// A parser that fails may leave other promises that nobody awaits. What matters is its first error.
process.on('unhandledRejection', () => {});
parentPort!.on('message', (request: SandboxRequest) => void answer(request));
post({ type: 'ready' });

async function answer(request: SandboxRequest): Promise<void> {
  try {
    if (request.type === 'start') {
      heldError = undefined;
      task = await open(request);
    }
    if (heldError !== undefined) throw heldError.thrown;
    post(await nextBatch(task!));
  } catch (thrown) {
    post({ type: 'failed', failure: toFailure(thrown) });
  }
}

async function open({
  module,
  name,
  input,
}: Extract<SandboxRequest, { type: 'start' }>): Promise<AsyncIterator<unknown>> {
  const tasks: Readonly<Record<string, (input: unknown) => AsyncIterable<unknown>>> = await import(
    module
  );
  return tasks[name]!(input)[Symbol.asyncIterator]();
}

async function nextBatch(source: AsyncIterator<unknown>): Promise<SandboxReply> {
  const items: unknown[] = [];
  const end = performance.now() + batch.milliseconds;
  do {
    try {
      const { value, done } = await source.next();
      if (done) return { type: 'items', items, isLast: true };
      items.push(value);
    } catch (thrown) {
      if (items.length === 0) throw thrown;
      heldError = { thrown };
      break;
    }
  } while (items.length < batch.items && performance.now() < end);
  return { type: 'items', items, isLast: false };
}

function toFailure(thrown: unknown): SandboxFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  const fields = Object.entries(error).filter(([, value]) => isPlain(value));
  const { message, stack } = error;
  return { message, stack, type: error.constructor.name, fields: Object.fromEntries(fields) };
}
