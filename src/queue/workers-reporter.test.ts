import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeWorker, fakeWorkers } from '../../test/helpers/fake-workers.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { HEARTBEAT, PROTOCOL, type WorkerRecord } from './protocol.ts';
import { readWorkersFile } from './workers-file.ts';
import { JobRate, type ReportedQueue, WorkersReporter } from './workers-reporter.ts';

const record: WorkerRecord = {
  ...fakeWorker(),
  ...{ protocol: PROTOCOL, id: 'w', run: 'r' },
  machine: { version: '1', onnxRuntime: '1', instructions: 'avx2' },
};

/** A queue whose numbers and workers the test sets. */
function createQueue() {
  return {
    progress: { step: 4, stage: 'gradients', done: 1, total: 2 },
    counts: { completed: 7, retries: 1 },
    blobs: { traffic: { sent: 10, received: 20 } },
    workers: async (): Promise<readonly WorkerRecord[] | undefined> => [record],
  } satisfies ReportedQueue;
}

function startReporter(queue: ReportedQueue, path = join(makeTempFolder(), 'workers.json')) {
  const reporter = new WorkersReporter(queue, path);
  onTestFinished(() => reporter.close());
  return { reporter, path };
}

describe('WorkersReporter', () => {
  test('writes what the queue does and who works for it', async () => {
    const { reporter, path } = startReporter(createQueue());
    await reporter.close();
    const state = await readWorkersFile(path);
    expect(state).toEqual({
      updatedAt: state!.updatedAt,
      since: state!.since,
      connected: true,
      progress: { step: 4, stage: 'gradients', done: 1, total: 2 },
      totals: { jobs: 7, jobsPerSecond: 0, retries: 1, sent: 10, received: 20 },
      workers: [fakeWorker()],
    });
    expect(Math.abs(Date.parse(state!.updatedAt) - Date.now())).toBeLessThan(60_000);
    expect(readdirSync(join(path, '..'))).toEqual(['workers.json']);
  });

  test('writes again with every heartbeat, and never after close()', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = createQueue();
    const { reporter, path } = startReporter(queue);
    const jobs = async () => (await readWorkersFile(path))?.totals.jobs;
    await vi.waitFor(async () => expect(await jobs()).toBe(7));
    queue.counts.completed = 8;
    await vi.waitFor(async () => {
      vi.advanceTimersByTime(HEARTBEAT);
      expect(await jobs()).toBe(8);
    });
    queue.counts.completed = 9;
    await reporter.close();
    expect(await jobs()).toBe(9);
    rmSync(path);
    vi.advanceTimersByTime(10 * HEARTBEAT);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(path)).toBe(false);
  });

  test('keeps the workers that Redis last reported while it does not answer', async () => {
    const queue = createQueue();
    const { reporter, path } = startReporter(queue);
    await vi.waitFor(async () => expect((await readWorkersFile(path))?.connected).toBe(true));
    for (const workers of [
      async () => undefined,
      () => Promise.reject(new Error('Connection is closed')),
      () => new Promise<undefined>(() => {}),
    ]) {
      queue.workers = workers;
      await reporter.close();
      const state = await readWorkersFile(path);
      expect([state!.connected, state!.workers]).toEqual([false, [fakeWorker()]]);
    }
    queue.workers = async () => [];
  });

  test('does not fail if the file cannot be written', async () => {
    const folder = makeTempFolder();
    const missing = startReporter(createQueue(), join(folder, 'deleted', 'workers.json'));
    await expect(missing.reporter.close()).resolves.toBeUndefined();
    mkdirSync(join(folder, 'workers.json'));
    const blocked = startReporter(createQueue(), join(folder, 'workers.json'));
    await expect(blocked.reporter.close()).resolves.toBeUndefined();
  });
});

describe('JobRate', () => {
  test('covers the time since the start, then the last minute', () => {
    const rate = new JobRate();
    const points = [
      [0, 0],
      [10, 20],
      [40, 50],
      [70, 80],
      [130, 80],
    ] as const;
    const rates = points.map(([seconds, jobs]) => rate.add(1000 * seconds, jobs));
    expect(rates).toEqual([0, 2, 1.25, 1, 0]);
  });
});

describe('readWorkersFile()', () => {
  test('returns the state, without fields of later versions', async () => {
    const path = join(makeTempFolder(), 'workers.json');
    writeFileSync(path, JSON.stringify({ ...fakeWorkers(), later: 'version' }));
    expect(await readWorkersFile(path)).toEqual(JSON.parse(JSON.stringify(fakeWorkers())));
  });

  test.each([
    ['half a file', '{"updatedAt":'],
    ['a list', '[]'],
    ['a negative count', JSON.stringify({ ...fakeWorkers(), totals: { jobs: -1 } })],
    ['an unknown state', JSON.stringify({ ...fakeWorkers(), workers: [{ state: 'asleep' }] })],
  ])('returns nothing for %s', async (_, text) => {
    const path = join(makeTempFolder(), 'workers.json');
    writeFileSync(path, text);
    expect(await readWorkersFile(path)).toBeUndefined();
  });

  test('returns nothing without a file', async () => {
    expect(await readWorkersFile(join(makeTempFolder(), 'workers.json'))).toBeUndefined();
  });
});
