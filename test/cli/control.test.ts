import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { TrainEvent } from '../../src/loop/events.ts';
import { requestControl } from '../../src/run/run-control.ts';
import { runCli, runInProcess } from '../helpers/run-cli.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';
import { startWatched } from '../helpers/watched-run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const start = (output: string) => [
  ...['train', '--config', at('train.yaml'), '--output', output, '--num-epochs', '4'],
  ...['--save-interval', '0', '--validation-fraction', '0'],
];
const stateOf = (run: string) => JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
const isPaused = (event: TrainEvent) => event.type === 'control' && event.status === 'paused';
const isStep = (step: number) => (event: TrainEvent) =>
  event.type === 'step' && event.step === step;

beforeAll(async () => {
  folder = await makeTrainFolder();
});

describe('proximal control', () => {
  test('pauses, saves, resumes and stops a run in another process without changing its numbers', async () => {
    const [whole, controlled] = [at('whole'), at('controlled')];
    const left = runCli(...start(whole));
    const run = startWatched(...start(controlled), '--json');
    await run.until(isStep(2));
    await requestControl(controlled, 'pause');
    const { step } = await run.until(isPaused);
    expect(stateOf(controlled)).toMatchObject({
      ...{ status: 'paused', step },
      message: `Paused before step ${step + 1}`,
    });
    const saving = await runCli('control', controlled, 'save');
    expect(saving).toMatchObject({
      status: 0,
      stdout: `${controlled} will save a checkpoint after this step\n`,
    });
    const saved = await run.until(({ type }) => type === 'checkpoint');
    expect(saved.step).toBe(step);
    await runInProcess('control', controlled, 'resume');
    await run.until(isStep(step + 1));
    await requestControl(controlled, 'stop');
    const { status, stdout } = await run.ended;
    expect(status).toBe(130);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TrainEvent);
    expect(stdout).not.toContain('"tokens":');
    const paused = events.findIndex(isPaused);
    expect(events.slice(paused, paused + 3).map(({ type }) => type)).toEqual([
      ...['control', 'checkpoint', 'control'],
    ]);
    const message = 'The run was stopped on request and can be resumed';
    expect(events.at(-1)).toMatchObject({ type: 'result', reason: 'interrupted', message });
    expect(stateOf(controlled)).toMatchObject({ status: 'interrupted', message });
    expect(readdirSync(controlled).filter((name) => name.endsWith('.request'))).toEqual([]);

    expect((await runInProcess('train', '--resume', controlled)).status).toBe(0);
    expect((await left).status).toBe(0);
    const adapterOf = (of: string) => readFileSync(join(of, 'model/adapter_model.safetensors'));
    expect(adapterOf(controlled).equals(adapterOf(whole))).toBe(true);
    for (const log of ['metrics.jsonl', 'samples.jsonl']) {
      expect(readLog(controlled, log)).toEqual(readLog(whole, log));
    }
  });

  test('rejects a folder without a run and an unknown command', async () => {
    const nothing = await runInProcess('control', at('nowhere'), 'pause');
    const jump = await runInProcess('control', at('whole'), 'jump');
    expect(nothing).toMatchObject({ status: 1, stdout: '' });
    expect(nothing.stderr).toMatch(
      /^Cannot pause .*nowhere: it must contain a run, got no run.json;/,
    );
    expect(jump).toMatchObject({ status: 2, stdout: '' });
    expect(jump.stderr).toContain('Allowed choices are pause, resume, save, stop');
  });
});

test('prints that a run has paused and how to continue', async () => {
  const output = at('people');
  const run = startWatched(...start(output));
  await run.untilText(/^step +1\/12/m);
  await requestControl(output, 'pause');
  await run.untilText(
    new RegExp(
      `^Paused before step \\d+; to continue: npx proximal control ${output} resume$`,
      'm',
    ),
  );
  await requestControl(output, 'stop');
  const ended = await run.ended;
  expect(ended.stderr).not.toContain('failed');
  expect(ended).toMatchObject({
    status: 130,
    stdout: `The run was stopped on request and can be resumed:\n  npx proximal train --resume ${output}\n`,
  });
});
