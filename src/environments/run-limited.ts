/** Runs at most some functions at the same time; the others wait in order. */
export class Limiter {
  private readonly limit: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Runs a function when there is room. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next one takes over the place, so that nobody can enter in between.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}

/** How a function ended that had to be quick. */
export type Outcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' };

/** Waits for a function for some seconds. Its signal fires when nobody waits any more; a function that
 *  ignores it is left alone. Throws only if the outer signal fires. */
export async function runWithin<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Outcome<T>> {
  signal.throwIfAborted();
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const timeout = new Promise<Outcome<T>>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'timeout' }), seconds * 1000);
  });
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  const result = (async () => work(own.signal))().then(
    (value): Outcome<T> => ({ kind: 'value', value }),
    (error: unknown): Outcome<T> => ({ kind: 'error', error }),
  );
  try {
    return await Promise.race([result, timeout, aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    own.abort(new Error('the result is no longer needed'));
  }
}
