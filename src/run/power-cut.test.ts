import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readLog } from '../../test/helpers/stage-setup.ts';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import { WatchedDisk } from '../../test/helpers/watched-disk.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import type { TrainEvent } from '../loop/events.ts';
import { readRunConfig } from './run-folder.ts';
import { readRunState } from './run-state.ts';
import { resumeRun, trainRun } from './train-run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (...names: string[]) => join(folder, ...names);

beforeAll(async () => {
  folder = await makeTrainFolder();
});

const config = (output: string, changes: Partial<RunConfigOptions> = {}): RunConfigOptions => ({
  ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
  ...{ maxNewTokens: 4, batchSize: 4, learningRate: 1e-2, validationFraction: 0.25, seed: 1 },
  ...{ maxSteps: 3, evalInterval: 2, saveInterval: 1, output: at(output), ...changes },
});

const logs = ['metrics', 'samples', 'tokens', 'evaluations'] as const;

/** What must be the same however often a run was resumed. */
function resultOf(run: string) {
  const rows = logs.map((name) => readLog(run, `${name}.jsonl`));
  return [...rows, readFileSync(join(run, 'model/adapter_model.safetensors'))];
}

const countLines = (text = '') => text.split('\n').length - 1;

/** What is wrong with the files of a run that a power cut leaves. */
function findFaults(disk: WatchedDisk): string[] {
  const faults: string[] = [];
  const steps = disk.list('run', 'checkpoints').map((name) => /^checkpoint-(\d+)$/.exec(name)?.[1]);
  const last = Math.max(0, ...steps.map((step) => Number(step ?? 0)));
  const rows = countLines(disk.read('run', 'metrics.jsonl'));
  if (rows < last) faults.push(`checkpoint ${last} with ${rows} rows of metrics`);
  const state = disk.read('run', 'run.json');
  if (state === undefined) return faults;
  if (!state.endsWith('}\n')) return [...faults, `run.json is ${JSON.stringify(state)}`];
  const hasModel = (disk.read('run', 'model', 'adapter_config.json') ?? '') !== '';
  if (JSON.parse(state).status === 'completed' && !hasModel) faults.push('completed, no model');
  return faults;
}

describe('a power cut', () => {
  test('at any time leaves checkpoints with their logs, a complete state, and a model if it is completed', async () => {
    const faults: string[] = [];
    const cuts: string[] = [];
    mkdirSync(at('disk'));
    new WatchedDisk(at('disk'), (path, disk) => {
      faults.push(...findFaults(disk));
      const name = `cut-${cuts.length}`;
      if (basename(path) !== 'checkpoints' || cuts.length === 4) return;
      disk.copyTo(at(name));
      cuts.push(at(name, 'run'));
    });
    await trainRun(config('disk/run'));
    expect(faults).toEqual([]);
    const expected = resultOf(at('disk/run'));
    // Every flush of the checkpoints puts one in place: of steps 0 (the best so far), 1, 2 and 3.
    expect(cuts).toHaveLength(4);
    for (const cut of cuts) {
      await resumeRun(cut);
      expect(resultOf(cut)).toEqual(expected);
    }
  });

  test('that leaves run.json empty costs nothing: resuming rebuilds it', async () => {
    await trainRun(config('damaged', { maxSteps: 1 }));
    writeFileSync(at('damaged/run.json'), '');
    await expect(trainRun(config('damaged'))).rejects.toThrow('resume the run, which rebuilds it');
    expect(await resumeRun(at('damaged'), { maxSteps: 2 })).toMatchObject({ steps: 2 });
    expect(await readRunState(at('damaged'))).toMatchObject({ status: 'completed', step: 2 });
  });
});

describe('a run whose logs lack rows of completed steps', () => {
  test('is not resumed and is unchanged; allowChangedInputs resumes it with a warning', async () => {
    await trainRun(config('lost'));
    const file = at('lost/metrics.jsonl');
    const [one, two] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${one}\n${two}\n{"step":3,`);
    const before = [await readRunState(at('lost')), await readRunConfig(at('lost'))];
    const fault = 'metrics.jsonl must have 3 rows up to step 3, got 2';
    await expect(resumeRun(at('lost'), { maxSteps: 4 })).rejects.toThrow(
      new Error(
        `Cannot resume ${at('lost')}: ${fault}; restore the rows, start a new run, or continue without them by --allow-changed-inputs`,
      ),
    );
    expect([await readRunState(at('lost')), await readRunConfig(at('lost'))]).toEqual(before);
    expect(readFileSync(file, 'utf8')).toBe(`${one}\n${two}\n{"step":3,`);
    const warnings: string[] = [];
    const onEvent = (event: TrainEvent) =>
      void (event.type === 'warning' && warnings.push(event.message));
    await resumeRun(at('lost'), { maxSteps: 4, allowChangedInputs: true, onEvent });
    expect(warnings).toContain(`Resuming without rows of a log: ${fault}`);
    expect(readLog(at('lost'), 'metrics.jsonl')).toMatchObject([1, 2, 4].map((step) => ({ step })));
    // The rows that are left are those to compare with from now on.
    await resumeRun(at('lost'), { maxSteps: 5 });
  });

  test('drops what a power cut left after the rows of its checkpoint', async () => {
    await trainRun(config('garbage', { maxSteps: 2 }));
    appendFileSync(at('garbage/metrics.jsonl'), `${'\0'.repeat(500)}"lr":1}\n{"step":4}\n`);
    await resumeRun(at('garbage'), { maxSteps: 3 });
    const steps = readLog(at('garbage'), 'metrics.jsonl').map((row) => 'step' in row && row.step);
    expect(steps).toEqual([1, 2, 3]);
  });
});

test('a run that is killed after its last step and before its model is saved is not completed, and resumes', async () => {
  const onEvent = ({ type }: TrainEvent) => {
    if (type === 'run-end') cpSync(at('ended'), at('killed'), { recursive: true });
  };
  await trainRun(config('ended', { maxSteps: 1 }), { onEvent });
  expect(existsSync(at('killed/model'))).toBe(false);
  expect(await readRunState(at('killed'))).toMatchObject({ status: 'running', step: 1 });
  await resumeRun(at('killed'));
  expect(await readRunState(at('killed'))).toMatchObject({ status: 'completed', step: 1 });
  expect(resultOf(at('killed'))).toEqual(resultOf(at('ended')));
});
