import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RedisProcess } from '../../bench/redis-process.ts';
import { hashRun } from '../../bench/scale-out/hash-run.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { processVariables } from '../../src/queue/protocol.ts';
import { listRuns } from '../../src/queue/worker-list.ts';
import { queueConfigs, TestWorker, writeQueueConfig } from '../helpers/queue-run.ts';
import { connectTo, describeWithRedis, startRedis } from '../helpers/redis-server.ts';
import { endOf, runCli, startCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

/** Kills per kind of run: 30 workers and 10 trainers in all, and Redis once per kind. */
const kills = {
  'PPO with values': { workers: 10, trainers: 4, redis: 'SIGTERM' },
  'GRPO with 4 samples': { workers: 10, trainers: 3, redis: 'SIGKILL' },
  'int8 rollouts': { workers: 10, trainers: 3, redis: 'SIGTERM' },
} as const;

const names = Object.keys(kills) as (keyof typeof kills)[];

describeWithRedis('a run whose workers, trainer and Redis are killed', () => {
  it.each(names)('computes the same bytes: %s', { timeout: 600_000 }, async (name) => {
    const config = writeQueueConfig({ ...queueConfigs[name], maxSteps: 12, saveInterval: 1 });
    const alone = join(makeTempFolder(), 'alone');
    const first = await runCli('train', '--config', config, '--output', alone);
    expect([first.status, first.stderr]).toEqual([0, expect.not.stringContaining('Cannot')]);
    const expected = hashRun(alone);
    const targets = shuffledTargets(config, kills[name]);
    // A run that ends early leaves its kills to the next one.
    while (targets.length > 0) {
      const folder = await runWithKills(config, { targets, redisSignal: kills[name].redis });
      expect(hashRun(folder)).toEqual(expected);
    }
  });
});

type Target = 'worker' | 'trainer' | 'redis';

function shuffledTargets(
  config: string,
  planned: { readonly workers: number; readonly trainers: number },
): Target[] {
  const random = randomStream(7, config);
  return [
    ...Array<Target>(planned.workers).fill('worker'),
    ...Array<Target>(planned.trainers).fill('trainer'),
    'redis' as const,
  ]
    .map((target) => ({ target, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ target }) => target);
}

/** Trains to the end, removes each target once it has been killed, and returns the run's folder. */
async function runWithKills(
  config: string,
  { targets, redisSignal }: { readonly targets: Target[]; readonly redisSignal: NodeJS.Signals },
): Promise<string> {
  const redis = await startRedis();
  const workers = [new TestWorker(redis.url()), new TestWorker(redis.url())];
  const folder = join(makeTempFolder(), 'killed');
  const random = randomStream(targets.length, config);
  let trainer = startTrainer('--config', config, '--output', folder, '--queue', redis.url());
  const hasEnded = () => trainer.child.exitCode !== null;
  try {
    const first = join(folder, 'checkpoints', 'checkpoint-000000');
    while (!existsSync(first) && !hasEnded()) await wait(100);
    while (targets.length > 0) {
      await wait(500 + 2000 * random.next());
      if (hasEnded()) break;
      const target = targets[0]!;
      if (target === 'worker') {
        const place = Math.floor(2 * random.next());
        await workers[place]!.kill('SIGKILL');
        workers[place] = new TestWorker(redis.url());
      } else if (target === 'trainer') {
        trainer.child.kill('SIGKILL');
        if ((await trainer.ended).status === 0) break;
        trainer = startTrainer('--resume', folder, '--queue', redis.url());
        // Without Redis it could not start.
        const { pid } = trainer.child;
        const hasStarted = async () => hasEnded() || (await announcedPids(redis)).includes(pid!);
        await expect.poll(hasStarted, { timeout: 60_000 }).toBe(true);
      } else {
        await redis.halt(redisSignal);
        await wait(1000);
        await redis.restart();
      }
      targets.shift();
    }
    const { status, stderr } = await trainer.ended;
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('Cannot')]);
    // The processes of killed workers have ended, too.
    await expect.poll(() => countOrphans(redis.url()), { timeout: 10_000 }).toBe(0);
    return folder;
  } finally {
    trainer.child.kill('SIGKILL');
    for (const worker of workers) await worker.kill('SIGKILL');
    await redis.stop();
  }
}

async function announcedPids(redis: RedisProcess): Promise<number[]> {
  const client = connectTo(redis);
  const runs = await listRuns(client);
  client.disconnect();
  return runs.map(({ pid }) => pid);
}

/** Processes that ran jobs of this Redis and have lost their worker. */
function countOrphans(url: string): number {
  const isOrphan = (pid: string) => {
    try {
      const environment = readFileSync(join('/proc', pid, 'environ'), 'utf8');
      const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(join('/proc', pid, 'status'), 'utf8'));
      return environment.includes(`${processVariables.url}=${url}`) && parent?.[1] === '1';
    } catch {
      // The process has just ended.
      return false;
    }
  };
  if (!existsSync('/proc')) return 0;
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOrphan(name)).length;
}

function startTrainer(...args: string[]) {
  const child = startCli('train', ...args);
  return { child, ended: endOf(child) };
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
