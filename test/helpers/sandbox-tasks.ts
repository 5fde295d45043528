// Tasks that tests run in the sandbox.

export async function* count({ to }: { readonly to: number }): AsyncGenerator<number> {
  for (let i = 0; i < to; i++) yield i;
}

/** Counts the items that it has yielded in shared memory. */
export async function* countShared(yielded: Int32Array): AsyncGenerator<number> {
  for (;;) yield Atomics.add(yielded, 0, 1);
}

export async function* fail({ after }: { readonly after: number }): AsyncGenerator<number> {
  yield* count({ to: after });
  const error = new RangeError('it must be even, got 3');
  throw Object.assign(error, { code: 'EODD', path: 'a.txt' });
}

export async function* loopForever(): AsyncGenerator<number> {
  let n = 0;
  while (n >= 0) n++;
  yield n;
}

/** Rejects promises that nobody awaits, before and after its items. */
export async function* rejectUnseen(): AsyncGenerator<number> {
  void Promise.reject(new Error('nobody awaits this'));
  await new Promise((resolve) => setImmediate(resolve));
  yield 1;
  void Promise.reject(new Error('nor this'));
}

export async function* endThread(): AsyncGenerator<number> {
  yield process.exit(3);
}

export async function* fillHeap(): AsyncGenerator<number> {
  const lists: number[][] = [];
  while (lists.length >= 0) lists.push(new Array(1e6).fill(0.5));
  yield lists.length;
}
