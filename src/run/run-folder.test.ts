import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { version } from '../version.ts';
import { RunFolder, readRunConfig, Throttle } from './run-folder.ts';
import { checkRunFolder } from './run-place.ts';
import { readRunState } from './run-state.ts';

const options = { config: { seed: 1, gamma: 0.99 }, keepCheckpoints: 2 };
const resuming = { ...options, resume: true };

describe('RunFolder', () => {
  test('create() writes config and state, which can be read while the run is in progress', async () => {
    const path = join(makeTempFolder(), 'runs', 'a');
    const run = await RunFolder.create(path, options);
    expect(readdirSync(path).toSorted()).toEqual([
      'checkpoints',
      'config.json',
      'run.json',
      'run.lock',
    ]);
    expect(await readRunConfig(path)).toEqual(options.config);
    run.update({ step: 3, totalSteps: 10 });
    const state = await readRunState(path);
    expect(state).toEqual({
      version,
      pid: process.pid,
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      step: 3,
      totalSteps: 10,
      status: 'running',
    });
    expect(run.state).toEqual(state);
    expect(run.resumedStep).toBeUndefined();
    run.close();
    run.close();
    expect(readdirSync(path)).not.toContain('run.lock');
  });

  test('create() rejects a folder with a run and leaves it unchanged', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    run.update({ step: 7 });
    run.close();
    const { startedAt } = run.state;
    await expect(RunFolder.create(path, { ...options, config: {} })).rejects.toThrow(
      `Cannot start a run in ${path}: it must not contain a run, got one started at ${startedAt}, now at step 7; ` +
        'continue it with --resume or choose another folder',
    );
    expect(await readRunConfig(path)).toEqual(options.config);
    expect(readdirSync(path)).not.toContain('run.lock');
  });

  test('create() replaces a run that waited for workers and completed no step', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    writeFileSync(first.paths.workers, '{}');
    first.close();
    const run = await RunFolder.create(path, options);
    expect(readdirSync(path)).not.toContain('workers.json');
    run.close();
  });

  test('create() accepts a folder in which a process was killed before it wrote a state', async () => {
    const path = makeTempFolder();
    mkdirSync(join(path, 'checkpoints'));
    for (const name of ['run.lock', 'config.json', 'run.json.tmp', 'config.json.1-2.tmp']) {
      writeFileSync(join(path, name), '');
    }
    await expect(RunFolder.create(path, resuming)).rejects.toThrow(
      'got no run.json; leave out --resume to start one',
    );
    expect(await checkRunFolder(path, {})).toBeUndefined();
    const run = await RunFolder.create(path, options);
    expect(run.notes).toEqual([]);
    run.close();
    expect(readdirSync(path).toSorted()).toEqual(['checkpoints', 'config.json', 'run.json']);
  });

  test('create() rejects files of others although a process left its lock', async () => {
    const path = makeTempFolder();
    for (const name of ['run.lock', 'model.safetensors']) writeFileSync(join(path, name), '');
    await expect(RunFolder.create(path, options)).rejects.toThrow('got model.safetensors in it');
  });

  test('create() replaces a run that was killed before it wrote its config', async () => {
    const path = join(makeTempFolder(), 'a');
    (await RunFolder.create(path, options)).close();
    rmSync(join(path, 'config.json'));
    await expect(readRunConfig(path)).rejects.toThrow(
      `Cannot resume ${path}: it must contain a config, got no config.json; leave out --resume to start it again`,
    );
    const run = await RunFolder.create(path, options);
    expect(await readRunConfig(path)).toEqual(options.config);
    run.close();
  });

  test('create() rejects a folder with other files', async () => {
    const path = makeTempFolder();
    writeFileSync(join(path, 'config.json'), '{}');
    await expect(RunFolder.create(path, options)).rejects.toThrow(
      `Cannot start a run in ${path}: it must be new or empty, got config.json in it; choose another folder`,
    );
    expect(readdirSync(path)).toEqual(['config.json']);
  });

  test('create() rejects a folder whose run is in progress', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    for (const second of [options, resuming]) {
      await expect(RunFolder.create(path, second)).rejects.toThrow(
        `Cannot use ${path}: only one process may use it at a time, got process ${process.pid};`,
      );
    }
    run.close();
  });

  test('create() resumes only a folder with a run and creates no folder', async () => {
    const parent = makeTempFolder();
    const path = join(parent, 'a');
    await expect(RunFolder.create(path, resuming)).rejects.toThrow(
      `Cannot resume ${path}: it must contain a run, got no run.json; leave out --resume to start one`,
    );
    expect(readdirSync(parent)).toEqual([]);
    await expect(readRunConfig(path)).rejects.toThrow('it must contain a run, got no run.json');
  });

  test('create() reports a state that it cannot read', async () => {
    const path = makeTempFolder();
    writeFileSync(join(path, 'run.json'), '{"version":"1","pid":"x"}');
    await expect(RunFolder.create(path, resuming)).rejects.toThrow(
      /^Cannot read .*run\.json: it must be the state of a run \(pid: .*\); choose another folder$/,
    );
  });
});

describe('A run in progress', () => {
  test('shows its phase until it ends', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    const phase = { phase: 'update', done: 1, total: 4 };
    run.showPhase(phase);
    expect(await readRunState(path)).toMatchObject({ phase });
    run.update({ status: 'paused' });
    expect(await readRunState(path)).toMatchObject({ phase, status: 'paused' });
    run.showPhase({ ...phase, done: 2 });
    run.update({ status: 'failed', message: 'no idea' });
    expect(await readRunState(path)).not.toHaveProperty('phase');
    expect(readFileSync(run.paths.log, 'utf8')).toMatch(
      /^\{"time":"[^"]+","type":"end","step":0,"message":"The run failed: no idea"\}\n$/,
    );
    run.close();
  });

  test('continues if its phase cannot be written', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    mkdirSync(join(path, 'run.json.tmp'));
    run.showPhase({ phase: 'update', done: 1, total: 4 });
    expect(() => run.update({ step: 1 })).toThrow('Cannot write');
    expect(await readRunState(path)).not.toHaveProperty('phase');
    run.close();
  });
});

describe('A resumed run', () => {
  const lines = (...steps: number[]) => steps.map((step) => `{"step":${step}}\n`).join('');

  test('continues from its latest intact checkpoint, with logs truncated to it', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    for (const step of [2, 4]) {
      await first.checkpoints.save(step, async (to) => writeFileSync(join(to, 'a'), 'x'), {
        isBest: step === 2,
      });
    }
    const { metrics, samples, tokens, evaluations, log, checkpoints } = first.paths;
    writeFileSync(metrics, `${lines(1, 2, 3, 4, 5)}{"step":6,"lo`);
    writeFileSync(samples, lines(1, 1, 2, 2, 3));
    writeFileSync(tokens, `${lines(1, 2, 3)}{`);
    writeFileSync(evaluations, lines(0, 2, 4));
    writeFileSync(log, lines(0, 2, 2, 4));
    writeFileSync(`${metrics}.1-2.tmp`, 'left');
    mkdirSync(join(path, 'model.1-2.tmp/value'), { recursive: true });
    mkdirSync(join(checkpoints, 'checkpoint-000006.1-2.tmp'));
    writeFileSync(join(checkpoints, 'checkpoint-000004/a'), 'y');
    first.update({ step: 5 });
    first.close();
    const run = await RunFolder.create(path, { ...resuming, config: { seed: 2 } });
    await run.truncateLogs();
    expect(run.resumedFrom).toMatchObject({
      step: 2,
      folder: join(checkpoints, 'checkpoint-000002'),
      warnings: [expect.stringContaining('checkpoint-000004: a must have the SHA-256')],
    });
    expect(run.resumedStep).toBe(2);
    const logs = [metrics, samples, tokens, evaluations, log];
    expect(logs.map((file) => readFileSync(file, 'utf8'))).toEqual([
      lines(1, 2),
      lines(1, 1, 2, 2),
      lines(1, 2),
      lines(0, 2),
      lines(0, 2, 2),
    ]);
    for (const folder of [path, checkpoints]) {
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }
    expect(await readRunConfig(path)).toEqual({ seed: 2 });
    const { startedAt } = first.state;
    expect(await readRunState(path)).toMatchObject({ step: 2, status: 'running', startedAt });
    expect(run.state.resumedAt).toBeDefined();
    run.close();
  });

  test.each([
    ['empty', () => ''],
    ['truncated', (text: string) => text.slice(0, 40)],
    ['full of zeros', (text: string) => '\0'.repeat(text.length)],
  ])('rebuilds a run.json that is %s', async (_, damage) => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    await first.checkpoints.save(4, async () => {}, { isBest: false });
    first.log({ type: 'start', step: 0, message: 'Started' });
    first.close();
    const [time] = /\d{4}-[^"]+/.exec(readFileSync(first.paths.log, 'utf8'))!;
    const file = join(path, 'run.json');
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    await expect(readRunState(path)).rejects.toThrow(
      `Cannot read ${file}: it must be a JSON object, got damaged text; resume the run, which rebuilds it`,
    );
    expect(await checkRunFolder(path, { resume: true })).toMatchObject({ step: 4 });
    const run = await RunFolder.create(path, resuming);
    expect(await readRunState(path)).toMatchObject({ step: 4, status: 'running', startedAt: time });
    run.close();
  });

  test('without a checkpoint starts with empty logs', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    writeFileSync(first.paths.evaluations, lines(0));
    first.update({ step: 1 });
    first.close();
    const run = await RunFolder.create(path, resuming);
    await run.truncateLogs();
    expect([run.resumedFrom, run.resumedStep, run.state.step]).toEqual([undefined, -1, 0]);
    expect(existsSync(run.paths.evaluations)).toBe(false);
    run.close();
  });

  test('forgets its workers, unless it cannot be resumed', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    first.update({ step: 1 });
    first.close();
    writeFileSync(first.paths.workers, '{"workers":[]}\n');
    const run = await RunFolder.create(path, resuming);
    expect(existsSync(run.paths.workers)).toBe(false);
    await run.revert();
    run.close();
    expect(readFileSync(run.paths.workers, 'utf8')).toBe('{"workers":[]}\n');
  });

  test('whose logs cannot be read says where', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    first.close();
    writeFileSync(first.paths.samples, 'no\n');
    const run = await RunFolder.create(path, resuming);
    await expect(run.truncateLogs()).rejects.toThrow(
      `Cannot resume from ${first.paths.samples} line 1`,
    );
    run.close();
    expect(readdirSync(path)).not.toContain('run.lock');
  });

  test.skipIf(process.platform === 'win32')('does not wait for a named pipe', async () => {
    const path = join(makeTempFolder(), 'a');
    const first = await RunFolder.create(path, options);
    first.close();
    spawnSync('mkfifo', [first.paths.tokens]);
    const run = await RunFolder.create(path, resuming);
    await expect(run.truncateLogs()).rejects.toThrow(
      `Cannot read ${first.paths.tokens}: it must be a regular file, got a named pipe; move it away`,
    );
    run.close();
  });
});

describe('Throttle', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** The times at which a throttled function runs if it is requested at these times, in milliseconds. */
  function timesOf(requests: readonly number[], { stopAt = Infinity } = {}): number[] {
    const done: number[] = [];
    const start = Date.now();
    const throttle = new Throttle(() => done.push(Date.now() - start), 1000);
    for (const time of requests) setTimeout(() => throttle.request(), time);
    if (stopAt < Infinity) setTimeout(() => throttle.stop(), stopAt);
    vi.runAllTimers();
    return done;
  }

  test('runs immediately, and requests in between at the end of the interval', () => {
    expect(timesOf([0, 100, 200, 5000])).toEqual([0, 1000, 5000]);
    expect(timesOf([0, 999, 1500, 2500])).toEqual([0, 1000, 2000, 3000]);
  });

  test('drops a pending request when it is stopped', () => {
    expect(timesOf([0, 100], { stopAt: 200 })).toEqual([0]);
  });
});
