import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { TrainEvent } from '../loop/events.ts';
import { describeInterruption, stoppedOnRequest } from '../loop/step-control.ts';
import { forgetRequests, type RunCommand, RunControl, requestControl } from './run-control.ts';
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

describe('requestControl() refuses', () => {
  test('a folder without a run', async () => {
    const folder = makeTempFolder();
    await expect(requestControl(folder, 'pause')).rejects.toThrow(
      `Cannot pause ${folder}: it must hold a run, got no run.json; pass the folder of a run`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a run that has ended, and one whose process is gone', async () => {
    run.close();
    const dead = `Cannot save ${run.path}: it must have a living process, got `;
    const remedy = '; --resume goes on with a run';
    await expect(ask('save')).rejects.toThrow(
      `${dead}process ${process.pid}, which is gone${remedy}`,
    );
    run.update({ status: 'completed' });
    await expect(ask('save')).rejects.toThrow(`${dead}a run that has ended (completed)${remedy}`);
    // No pid is as large as this.
    const holder = { pid: 2 ** 30, host: hostname(), id: 'x' };
    writeFileSync(join(run.path, 'run.lock'), JSON.stringify(holder));
    await expect(ask('save')).rejects.toThrow(dead);
    expect(requests()).toEqual([]);
  });
});

describe('RunControl', () => {
  test('goes on, saves and stops as it is asked, each once', async () => {
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

  test('pauses until it is told to resume, and says so', async () => {
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
        message: 'Paused before step 4 until it is told to resume',
      },
      { type: 'control', step: 3, status: 'running', message: 'Going on with step 4' },
    ]);
    expect(await readRunState(run.path)).toMatchObject({ status: 'running', step: 0 });
    expect((await readRunState(run.path))?.message).toBeUndefined();
  });

  test('what is aborted is not paused, but ends', async () => {
    const stop = new AbortController();
    const control = makeControl(stop.signal);
    await ask('pause');
    const going = control.betweenSteps(3);
    stop.abort();
    expect(await going).toBe('continue');
    expect(control.signal.aborted).toBe(true);
  });

  test('a pause outlives a killed process, but not the end of a run', async () => {
    for (const command of ['pause', 'save', 'stop'] as const) await ask(command);
    forgetRequests(run.path);
    expect(requests()).toEqual(['pause.request']);
    await ask('stop');
    makeControl().close();
    expect(requests()).toEqual([]);
  });

  test('tells how many human scores are missing', async () => {
    const control = makeControl();
    const stateAfter = async (missing: number) => {
      await control.waitForPeople(missing);
      const { status, message } = (await readRunState(run.path))!;
      return { status, message };
    };
    const page = 'open the Label page (proximal dashboard)';
    for (const [missing, scores] of [
      [3, '3 human scores'],
      [1, '1 human score'],
    ] as const) {
      const message = `Waits for ${scores}: ${page}`;
      expect(await stateAfter(missing)).toEqual({ status: 'waiting', message });
    }
    expect(await stateAfter(0)).toEqual({ status: 'running', message: undefined });
    expect(events.map((event) => event.type === 'control' && event.status)).toEqual([
      'waiting',
      'running',
    ]);
  });

  test('does not wait for people where it is asked to stop', async () => {
    const control = makeControl();
    await ask('stop');
    await control.waitForPeople(0);
    expect(control.signal.aborted).toBe(false);
    await control.waitForPeople(2);
    expect(control.signal.aborted).toBe(true);
    expect(describeInterruption(control.signal)).toBe(stoppedOnRequest);
    expect(existsSync(join(run.path, 'stop.request'))).toBe(false);
  });
});
