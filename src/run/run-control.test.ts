import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { TrainEvent } from '../loop/events.ts';
import { describeInterruption, stoppedOnRequest } from '../loop/step-control.ts';
import { clearRequests, type RunCommand, RunControl, requestControl } from './run-control.ts';
import { RunFolder } from './run-folder.ts';
import { readRunState } from './run-state.ts';

let run: RunFolder;
let events: TrainEvent[];
const ask = (command: RunCommand) => requestControl(run.path, command);
const requests = () => readdirSync(run.path).filter((name) => name.endsWith('.request'));

function makeControl(signal?: AbortSignal) {
  const emit = async (event: TrainEvent) => void events.push(event);
  return new RunControl(run, { signal, emit });
}

beforeEach(async () => {
  events = [];
  run = await RunFolder.create(join(makeTempFolder(), 'a'), { config: {}, keepCheckpoints: 1 });
});
afterEach(() => run.close());

describe('requestControl() rejects', () => {
  test('a folder without a run', async () => {
    const folder = makeTempFolder();
    await expect(requestControl(folder, 'pause')).rejects.toThrow(
      `Cannot pause ${folder}: it must contain a run, got no run.json; pass the folder of a run`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a run that has ended and a run whose process is gone', async () => {
    run.close();
    const dead = `Cannot save ${run.path}: its process must be running, got `;
    const remedy = '; continue the run with --resume';
    await expect(ask('save')).rejects.toThrow(
      `${dead}process ${process.pid}, which is gone${remedy}`,
    );
    run.update({ status: 'completed' });
    await expect(ask('save')).rejects.toThrow(`${dead}a run that has ended (completed)${remedy}`);
    // No pid is this large.
    const holder = { pid: 2 ** 30, host: hostname(), id: 'x' };
    writeFileSync(join(run.path, 'run.lock'), JSON.stringify(holder));
    await expect(ask('save')).rejects.toThrow(dead);
    expect(requests()).toEqual([]);
  });
});

describe('RunControl', () => {
  test('continues, saves and stops on request, each once', async () => {
    const control = makeControl();
    expect(await control.betweenSteps(0)).toBe('continue');
    await ask('save');
    await ask('save');
    expect(await control.betweenSteps(1)).toBe('save');
    expect(await control.betweenSteps(1)).toBe('continue');
    await ask('save');
    await ask('stop');
    expect(await control.betweenSteps(2)).toBe('stop');
    expect(await control.betweenSteps(2)).toBe('save');
    expect(requests()).toEqual([]);
    expect(events).toEqual([]);
    expect(control.nextStep).toBe(3);
  });

  test('pauses until it is resumed and reports both', async () => {
    const control = makeControl();
    await ask('pause');
    const going = control.betweenSteps(3);
    await expect.poll(() => events.length).toBe(1);
    expect(await readRunState(run.path)).toMatchObject({ status: 'paused' });
    await ask('save');
    expect(await going).toBe('save');
    const again = control.betweenSteps(3);
    await ask('resume');
    expect(await again).toBe('continue');
    expect(events).toEqual([
      {
        ...{ type: 'control', step: 3, status: 'paused' },
        message: 'Paused before step 4',
      },
      { type: 'control', step: 3, status: 'running', message: 'Continuing with step 4' },
    ]);
    expect(await readRunState(run.path)).toMatchObject({ status: 'running', step: 0 });
    expect((await readRunState(run.path))?.message).toBeUndefined();
  });

  test('stops waiting when it is aborted', async () => {
    const stop = new AbortController();
    const control = makeControl(stop.signal);
    await ask('pause');
    const going = control.betweenSteps(3);
    stop.abort();
    expect(await going).toBe('continue');
    expect(control.signal.aborted).toBe(true);
  });

  test('a pause survives a killed process but not the end of a run', async () => {
    for (const command of ['pause', 'save', 'stop'] as const) await ask(command);
    clearRequests(run.path);
    expect(requests()).toEqual(['pause.request']);
    await ask('stop');
    makeControl().close();
    expect(requests()).toEqual([]);
  });

  test('reports how many human scores are missing', async () => {
    const control = makeControl();
    const stateAfter = async (missing: number) => {
      await control.reportMissingScores(missing);
      const { status, message } = (await readRunState(run.path))!;
      return { status, message };
    };
    for (const [missing, scores] of [
      [3, '3 human scores'],
      [1, '1 human score'],
    ] as const) {
      const message = `Waiting for ${scores} on the Label page`;
      expect(await stateAfter(missing)).toEqual({ status: 'waiting', message });
    }
    expect(await stateAfter(0)).toEqual({ status: 'running', message: undefined });
    expect(events.map((event) => event.type === 'control' && event.status)).toEqual([
      'waiting',
      'running',
    ]);
  });

  test('stops waiting for people on a stop request', async () => {
    const control = makeControl();
    await ask('stop');
    await control.reportMissingScores(0);
    expect(control.signal.aborted).toBe(false);
    await control.reportMissingScores(2);
    expect(control.signal.aborted).toBe(true);
    expect(describeInterruption(control.signal)).toBe(stoppedOnRequest);
    expect(existsSync(join(run.path, 'stop.request'))).toBe(false);
  });
});
