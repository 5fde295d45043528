import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RedisProcess } from '../../bench/redis-process.ts';
import { hashRun } from '../../bench/scale-out/hash-run.ts';
import { TestWorker, writeQueueConfig } from '../helpers/queue-run.ts';
import { connectTo, describeWithRedis, startRedis } from '../helpers/redis-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

describeWithRedis('a run with a queue', () => {
  let redis: RedisProcess;
  let workers: TestWorker[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    workers = [new TestWorker(redis.url()), new TestWorker(redis.url())];
  });

  afterAll(async () => {
    for (const worker of workers) await worker.kill('SIGKILL');
    await redis.stop();
  });

  it('computes the same bytes as in one process, and both workers take part', async () => {
    const config = writeQueueConfig({ advantageEstimator: 'gae' });
    const [alone, shared] = [join(makeTempFolder(), 'a'), join(makeTempFolder(), 'b')];
    const train = (output: string, ...flags: string[]) =>
      runCli('train', '--config', config, '--output', output, ...flags);
    expect((await train(alone)).stderr).not.toContain('Cannot');
    const { status, stderr } = await train(shared, '--queue', redis.url());
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('Cannot')]);
    expect(hashRun(shared)).toEqual(hashRun(alone));
    for (const worker of workers) expect(worker.output).toContain('done');
    // Two shards, and two micro-batches of reference, values and two epochs, in three steps.
    const done = workers.map(({ output }) => output.match(/ done\n/g)!.length);
    expect(done[0]! + done[1]!).toBe(3 * (2 + 2 + 2 + 2 * 2));
  });

  it('leaves nothing but the workers in Redis', async () => {
    const client = connectTo(redis);
    const keys = await client.keys('*');
    client.disconnect();
    // The workers' records and BullMQ's timer expire by themselves; a worker may write its queue's version.
    const isTemporary = (key: string) => /^proximal:worker:|:(stalled-check|meta)$/.test(key);
    expect(keys.filter((key) => !isTemporary(key))).toEqual([]);
  });

  it('ends a worker after its job on SIGTERM', async () => {
    const { status } = await workers.pop()!.kill('SIGTERM');
    expect(status).toBe(0);
  });
});
