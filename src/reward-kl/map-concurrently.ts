export interface ConcurrencyOptions {
  /** How many run at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/** Maps items in order of start, so many at once; after a throw or an abort none is started. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R | Promise<R>,
  { concurrency, signal }: ConcurrencyOptions,
): Promise<R[]> {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`concurrency must be a whole number ≥ 1, got ${concurrency}`);
  }
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      signal.throwIfAborted();
      const index = next++;
      try {
        results[index] = await work(items[index]!, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = Math.min(concurrency, items.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}
