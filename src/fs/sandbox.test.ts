import { expect, test } from 'vitest';
import {
  count,
  countShared,
  endThread,
  fail,
  loopForever,
  rejectUnseen,
} from '../../test/helpers/sandbox-tasks.ts';
import { runInSandbox } from './sandbox.ts';

const module = new URL('../../test/helpers/sandbox-tasks.ts', import.meta.url).href;
const action = 'Cannot count';

/** The items of a task, and the error that followed them. */
async function collect<T>(items: AsyncIterable<T>): Promise<{ items: T[]; error?: Error }> {
  const all: T[] = [];
  try {
    for await (const item of items) all.push(item);
  } catch (error) {
    return { items: all, error: error as Error };
  }
  return { items: all };
}

test('runInSandbox() yields all items in order', async () => {
  const result = await collect(runInSandbox({ module, run: count, input: { to: 2000 }, action }));
  expect(result).toEqual({ items: Array.from({ length: 2000 }, (_, i) => i) });
});

test('runInSandbox() runs several tasks at the same time', async () => {
  const tasks = [3, 400, 5].map((to) =>
    runInSandbox({ module, run: count, input: { to }, action }),
  );
  const results = await Promise.all(tasks.map(collect));
  expect(results.map(({ items }) => items.length)).toEqual([3, 400, 5]);
});

test('runInSandbox() throws the error of the task after its items', async () => {
  for (const after of [0, 300]) {
    const task = { module, run: fail, input: { after }, action };
    const { items, error } = await collect(runInSandbox(task));
    expect(items).toHaveLength(after);
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: 'it must be even, got 3', code: 'EODD', path: 'a.txt' });
  }
});

test('runInSandbox() ends a task that loops, while this thread continues', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const task = { module, run: loopForever, input: undefined, action, timeLimit: 400 };
  const { error } = await collect(runInSandbox(task));
  clearInterval(timer);
  expect(error?.message).toBe(
    'Cannot count: the next part must be parsed within 0.4 seconds, got nothing; the file is damaged or its parts are too large, create it again',
  );
  expect(ticks).toBeGreaterThan(3);
});

test('runInSandbox() ignores rejections that nobody awaits', async () => {
  const task = { module, run: rejectUnseen, input: undefined, action };
  for (let i = 0; i < 2; i++) expect(await collect(runInSandbox(task))).toEqual({ items: [1] });
});

test('runInSandbox() reports a thread that ends', async () => {
  const task = { module, run: endThread, input: undefined, action };
  const { error } = await collect(runInSandbox(task));
  expect(error?.message).toBe('Cannot count: its thread ended with code 3');
});

test('runInSandbox() parses only one batch ahead, and stops if nobody reads on', async () => {
  const yielded = new Int32Array(new SharedArrayBuffer(4));
  for await (const item of runInSandbox({ module, run: countShared, input: yielded, action })) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (item === 2) break;
  }
  expect(yielded[0]).toBeLessThanOrEqual(2 * 256);
});
