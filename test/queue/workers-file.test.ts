import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RedisProcess } from '../../bench/redis-process.ts';
import { readWorkersFile } from '../../src/queue/workers-file.ts';
import { TestWorker, writeQueueConfig } from '../helpers/queue-run.ts';
import { describeWithRedis, startRedis } from '../helpers/redis-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

describeWithRedis('workers.json of a run', () => {
  let redis: RedisProcess;
  let worker: TestWorker;

  beforeAll(async () => {
    redis = await startRedis();
    worker = new TestWorker(redis.url());
  });

  afterAll(async () => {
    await worker.kill('SIGKILL');
    await redis.stop();
  });

  it('has all jobs, bytes and the worker when the run has ended', async () => {
    const config = writeQueueConfig({ advantageEstimator: 'gae' });
    const output = join(makeTempFolder(), 'a');
    const { status } = await runCli(
      ...(['train', '--config', config, '--output', output, '--queue', redis.url()] as const),
    );
    expect(status).toBe(0);
    const state = (await readWorkersFile(join(output, 'workers.json')))!;
    // Two shards, and two micro-batches of reference, values and two epochs, in three steps.
    const jobs = 3 * (2 + 2 + 2 + 2 * 2);
    expect([state.connected, state.totals.jobs, state.totals.retries]).toEqual([true, jobs, 0]);
    expect(state.progress).toMatchObject({ step: 2, stage: 'gradients' });
    expect(state.totals.jobsPerSecond).toBeGreaterThan(0);
    const [own] = state.workers;
    expect(state.workers).toHaveLength(1);
    // The worker may report its last job a moment after the run has ended.
    expect([jobs - 1, jobs]).toContain(own!.jobs);
    expect(own!.failed).toBe(0);
    expect(own!.busy).toBeGreaterThan(0);
    expect(own!.busy).toBeLessThanOrEqual(own!.wall);
    expect(own!.sent).toBeGreaterThan(0);
    expect(state.totals.received).toBeGreaterThanOrEqual(own!.sent);
    expect(state.totals.sent).toBeGreaterThan(0);
  });
});
