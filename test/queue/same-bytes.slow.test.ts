import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hashRun } from '../../bench/scale-out/hash-run.ts';
import { queueConfigs, TestWorker, writeQueueConfig } from '../helpers/queue-run.ts';
import { describeWithRedis, startRedis } from '../helpers/redis-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const names = Object.keys(queueConfigs) as (keyof typeof queueConfigs)[];

describeWithRedis('the number of workers', () => {
  it.each(names)('changes no byte: %s', { timeout: 300_000 }, async (name) => {
    const config = writeQueueConfig(queueConfigs[name]);
    const redis = await startRedis();
    const workers: TestWorker[] = [];
    const hashes: Record<string, string>[] = [];
    try {
      for (const count of [0, 1, 2, 4]) {
        while (workers.length < count) workers.push(new TestWorker(redis.url()));
        const output = join(makeTempFolder(), String(count));
        const flags = ['--config', config, '--output', output];
        const queue = count === 0 ? [] : ['--queue', redis.url()];
        const { status, stderr } = await runCli('train', ...flags, ...queue);
        expect([status, stderr]).toEqual([0, expect.not.stringContaining('Cannot')]);
        hashes.push(hashRun(output));
      }
    } finally {
      for (const worker of workers) await worker.kill('SIGKILL');
      await redis.stop();
    }
    const [alone, ...others] = hashes;
    for (const hash of others) expect(hash).toEqual(alone);
  });
});
