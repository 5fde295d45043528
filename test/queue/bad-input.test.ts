import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RedisProcess } from '../../bench/redis-process.ts';
import { resolvePPOConfig } from '../../src/config/ppo-config.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { loadModel } from '../../src/models/index.ts';
import { connectQueue } from '../../src/queue/connect-queue.ts';
import { queueName } from '../../src/queue/protocol.ts';
import { listRuns } from '../../src/queue/worker-list.ts';
import { randomAdapter } from '../helpers/pass-checks.ts';
import { TestWorker, writeQueueConfig } from '../helpers/queue-run.ts';
import { connectTo, describeWithRedis, startRedis } from '../helpers/redis-server.ts';
import { endOf, runCli, startCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const patience = { timeout: 60_000, interval: 100 };

describeWithRedis('what can go wrong with a queue', () => {
  const redisServers: RedisProcess[] = [];
  const workers: TestWorker[] = [];

  async function addRedis(...settings: string[]): Promise<RedisProcess> {
    const redis = await startRedis(...settings);
    redisServers.push(redis);
    return redis;
  }

  function startWorker(url: string, ...flags: string[]): TestWorker {
    const worker = new TestWorker(url, ...flags);
    workers.push(worker);
    return worker;
  }

  function startTrain(url: string, options: object = {}) {
    const folder = join(makeTempFolder(), 'run');
    const config = writeQueueConfig({ maxSteps: 1, ...options });
    const child = startCli('train', '--config', config, '--output', folder, '--queue', url);
    return { child, folder, ended: endOf(child) };
  }

  beforeEach(() => {
    redisServers.length = 0;
    workers.length = 0;
  });

  afterEach(async () => {
    for (const worker of workers) await worker.kill('SIGKILL');
    for (const redis of redisServers) await redis.stop();
  });

  it.each(['', ':wrong@'])('a wrong password is one sentence: %s', async (login) => {
    const redis = await addRedis('--requirepass', 'secret');
    const url = redis.url().replace('redis://', `redis://${login}`);
    const train = await startTrain(url).ended;
    const worker = await startWorker(url).ended;
    for (const { status, stderr } of [train, worker]) {
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^Cannot use the queue redis:\/\/127\.0\.0\.1:\d+\/0: Redis must accept the password, got ".*"; put it into the URL or into PROXIMAL_QUEUE_PASSWORD\n$/,
      );
    }
  });

  it('a missing server is one sentence, and the run leaves no folder', async () => {
    const { folder, ended } = startTrain('redis://127.0.0.1:1/0');
    const { status, stderr } = await ended;
    expect(status).toBe(1);
    expect(stderr).toContain('Cannot use the queue redis://127.0.0.1:1/0: Redis must answer, got');
    expect(stderr).not.toContain('    at ');
    expect(existsSync(folder)).toBe(false);
  });

  it('the password is neither in the folder of a run nor in its output', async () => {
    const redis = await addRedis('--requirepass', 'secret');
    const url = redis.url().replace('redis://', 'redis://:secret@');
    startWorker(url);
    const { folder, ended } = startTrain(url);
    const { status, stdout, stderr } = await ended;
    expect(status).toBe(0);
    expect(stdout + stderr).not.toContain('secret');
    for (const name of readdirSync(folder).filter((file) => file.includes('.json'))) {
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toContain('secret');
    }
  });

  it('a full Redis stops the run with a sentence', async () => {
    const redis = await addRedis('--maxmemory', '2mb', '--maxmemory-policy', 'noeviction');
    startWorker(redis.url());
    const { status, stderr } = await startTrain(redis.url(), { loraR: 64 }).ended;
    expect(status).toBe(1);
    expect(stderr).toContain('Redis must have room for it, got "OOM');
    expect(stderr).toContain('raise maxmemory');
    expect(stderr).not.toContain('    at ');
  });

  it('a run without workers waits, warns, and continues when one joins', async () => {
    const redis = await addRedis();
    const { ended, child } = startTrain(redis.url());
    let stderr = '';
    child.stderr.on('data', (text: string) => {
      stderr += text;
    });
    await expect.poll(() => stderr, patience).toContain('No worker is connected');
    startWorker(redis.url());
    expect((await ended).status).toBe(0);
  });

  it('a run without workers stops on SIGTERM', async () => {
    const redis = await addRedis();
    const { ended, child, folder } = startTrain(redis.url());
    await expect.poll(() => existsSync(join(folder, 'checkpoints')), patience).toBe(true);
    await expect.poll(async () => (await runsOf(redis)).length, patience).toBe(1);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(130);
  });

  it('refuses a worker with another base or other threads, and says why', async () => {
    const redis = await addRedis();
    const other = join(makeTempFolder(), 'other');
    const init = await runCli(
      'init',
      '--output',
      other,
      '--tokenizer',
      embeddedFolder,
      '--hidden-size',
      '48',
    );
    expect(init.stderr).toBe('');
    const { child, ended } = startTrain(redis.url());
    const wrongBase = startWorker(redis.url(), '--model', other);
    const wrongThreads = startWorker(redis.url(), '--threads', '7');
    await expect
      .poll(() => wrongBase.output, patience)
      .toMatch(/Refused by run run: the base must have the fingerprint .{12}…, got .{12}… of/);
    await expect
      .poll(() => wrongThreads.output, patience)
      .toMatch(
        /number of threads must be \d, got 7; use the same, or accept other bits with --allow-mixed/,
      );
    const listed = await runCli('workers', '--queue', redis.url());
    expect(listed.stdout).toContain('refused: ');
    const mixed = startWorker(redis.url(), '--threads', '7', '--allow-mixed');
    expect((await ended).status).toBe(0);
    expect(mixed.output).toContain('Warning: results may differ in their last bits');
    expect(child.exitCode).toBe(0);
  });

  it('a malformed job fails alone', async () => {
    const redis = await addRedis();
    const { ended } = startTrain(redis.url(), { maxSteps: 2 });
    await expect.poll(async () => (await runsOf(redis)).length, patience).toBe(1);
    const [run] = await runsOf(redis);
    const connection = connectTo(redis);
    const queue = new Queue(queueName(run!.id), { connection });
    await queue.add('rollOut', { kind: 'evil', code: 'process.exit(3)' });
    const worker = startWorker(redis.url());
    expect((await ended).status).toBe(0);
    await queue.close();
    connection.disconnect();
    expect(worker.output).toContain('its data must be a job of this version, got');
  });

  it('a job that fails three times stops the run and saves its input', async () => {
    const redis = await addRedis();
    const folder = makeTempFolder();
    const model = await loadModel(embeddedFolder);
    const config = resolvePPOConfig({ modelName: embeddedFolder });
    const client = await connectQueue({
      ...{ url: redis.url(), config, model, folder, startedAt: 'now', warn: () => {} },
    });
    const worker = startWorker(redis.url());
    const { encodeRole } = await import('../../src/queue/role-blob.ts');
    const policy = encodeRole({ adapter: randomAdapter(model.base) });
    const input = { prompts: [Int32Array.of(10_000_000)], generation: { maxNewTokens: 2 } };
    const job = { kind: 'rollOut', step: 4, part: 2, input, roles: { policy } } as const;
    await expect(client.run(job)).rejects.toThrow(
      /^Cannot complete step 5: job rollOut 2 must succeed on a worker, got 3 failures, the last: .*; its input is in .*failed-job, and --resume tries again$/s,
    );
    await client.close();
    expect(readdirSync(join(folder, 'failed-job')).sort()).toEqual(
      ['input.safetensors', 'job.json', 'policy.safetensors', 'setup.safetensors'].sort(),
    );
    expect(worker.output.match(/rollOut failed/g)).toHaveLength(3);
  });

  async function runsOf(redis: RedisProcess) {
    const client = connectTo(redis);
    const runs = await listRuns(client);
    client.disconnect();
    return runs;
  }
});
