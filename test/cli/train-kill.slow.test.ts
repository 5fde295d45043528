import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { randomStream } from '../../src/engine/random/index.ts';
import type { TrainEvent } from '../../src/loop/events.ts';
import { requestControl } from '../../src/run/run-control.ts';
import { endOf, runCli, runInProcess, startCli } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';
import { startWatched } from '../helpers/watched-run.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

const KILLS = 10;

let folder: string;

/** The output of a run: adapters, and logs without timings. */
function readRun(run: string): Record<string, unknown> {
  const isTiming = (key: string) => /^(timing|perf)\//.test(key);
  const logs = ['metrics', 'samples', 'tokens', 'evaluations'].map((name) => {
    const lines = readFileSync(join(run, `${name}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
    return [name, lines.map((l) => JSON.parse(l, (k, v) => (isTiming(k) ? undefined : v)))];
  });
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(run, file)))
      .digest('hex');
  const adapters = ['model/adapter_model.safetensors', 'model/value/adapter_model.safetensors'];
  return {
    ...Object.fromEntries(logs),
    ...Object.fromEntries(adapters.map((file) => [file, hash(file)])),
  };
}

const flags = ['--num-epochs', '3', '--save-interval', '1', '--kl-controller', 'adaptive'];
const start = (output: string) =>
  ['train', '--config', join(folder, 'train.yaml'), '--output', output, ...flags] as const;

/** Starts or resumes a run and kills it once it has printed this many bytes. Returns whether it ended first. */
async function killAfter(bytes: number, args: readonly string[]): Promise<boolean> {
  const child = startCli(...args);
  let seen = 0;
  child.stderr!.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen >= bytes) child.kill('SIGKILL');
  });
  const { status } = await endOf(child);
  return status === 0;
}

describe('proximal train, killed with kill -9', () => {
  beforeAll(async () => {
    folder = await makeTrainFolder();
  });

  test(`at ${KILLS} random points and resumed ends like an uninterrupted run`, async () => {
    const whole = join(folder, 'whole');
    expect((await runCli(...start(whole))).status).toBe(0);
    const expected = readRun(whole);
    const random = randomStream(1, 'kill points');
    let [kills, run] = [0, 0];
    while (kills < KILLS) {
      const output = join(folder, `killed-${run++}`);
      let isDone = await killAfter(1 + random.integer(600), start(output));
      while (!isDone) {
        kills++;
        isDone = await killAfter(1 + random.integer(600), ['train', '--resume', output]);
      }
      expect(readRun(output)).toEqual(expected);
      expect(readdirSync(output).sort()).toEqual(readdirSync(whole).sort());
    }
  });

  const isPaused = (event: TrainEvent) => event.type === 'control' && event.status === 'paused';

  test('while paused resumes paused, until Ctrl-C', async () => {
    const output = join(folder, 'paused');
    const killed = startWatched(...start(output), '--json');
    await killed.until(({ type }) => type === 'run-start');
    await requestControl(output, 'pause');
    await killed.until(isPaused);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const dead = await runInProcess('control', output, 'resume');
    expect(dead).toMatchObject({ status: 1, stdout: '' });
    expect(dead.stderr).toBe(
      `Cannot resume ${output}: its process must be running, got process ${killed.child.pid}, which is gone; continue the run with --resume\n`,
    );
    const resumed = startWatched('train', '--resume', output, '--json');
    await resumed.until(isPaused);
    resumed.child.kill('SIGINT');
    expect((await resumed.ended).status).toBe(130);
    expect(JSON.parse(readFileSync(join(output, 'run.json'), 'utf8')).status).toBe('interrupted');
    expect(existsSync(join(output, 'pause.request'))).toBe(false);
    const { status, stderr } = await runInProcess('train', '--resume', output);
    expect(status).toBe(0);
    expect(stderr).not.toContain('Paused');
  });
});
