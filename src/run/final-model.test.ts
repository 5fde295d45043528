import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import type { TrainEvent } from '../loop/events.ts';
import { describeChoice, saveFinalModel } from './final-model.ts';
import { readLogLines } from './log-files.ts';
import { RunFolder } from './run-folder.ts';
import { readRunState } from './run-state.ts';
import { resumeRun, trainRun } from './train-run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (...names: string[]) => join(folder, ...names);

beforeAll(async () => {
  folder = await makeTrainFolder();
  // Training rewards fewer words and validation more, so training makes validation worse.
  writeFileSync(at('held.jsonl'), '{"prompt":"the cat","sign":1}\n{"prompt":"a dog","sign":1}\n');
  writeFileSync(
    at('worse.mjs'),
    'export default ({ response, row }) => (row.sign ?? -1) * response.split(" ").length;',
  );
});

/** A run that gets worse on its validation prompts. */
const config = (output: string, changes: Partial<RunConfigOptions> = {}) => ({
  ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('worse.mjs')] },
  ...{ validationFile: at('held.jsonl'), maxNewTokens: 6, learningRate: 3e-2, seed: 1 },
  ...{ batchSize: 4, maxSteps: 6, evalInterval: 1, saveInterval: 0, stopOnCollapse: false },
  ...{ output: at(output), ...changes },
});

const adapterOf = (...names: string[]) => readFileSync(at(...names, 'adapter_model.safetensors'));
const checkpoint = (step: number) => `checkpoint-${String(step).padStart(6, '0')}`;

async function rewardsOf(run: string): Promise<number[]> {
  const lines = await readLogLines(at(run, 'evaluations.jsonl'));
  return lines.map((line) => JSON.parse(line).performance.reward);
}

describe('a run that gets worse', () => {
  test('ends with its best policy in model and the last one in last', async () => {
    const result = await trainRun(config('worse'));
    const rewards = await rewardsOf('worse');
    const best = rewards.indexOf(Math.max(...rewards));
    expect(best).toBeLessThan(6);
    expect(result).toMatchObject({ modelFolder: at('worse/model'), lastFolder: at('worse/last') });
    expect(result.evaluations!.model.step).toBe(best);
    const policyAt = (step: number) =>
      adapterOf('worse', 'checkpoints', checkpoint(step), 'policy');
    expect(adapterOf('worse', 'model')).toEqual(policyAt(best));
    expect(adapterOf('worse', 'last')).toEqual(policyAt(6));
    expect(adapterOf('worse', 'model')).not.toEqual(adapterOf('worse', 'last'));
    const state = await readRunState(at('worse'));
    expect(state!.model).toEqual(result.model);
    expect(state!.model).toMatchObject({
      ...{ step: best, chosenBy: 'validation', metric: 'eval/reward', value: rewards[best] },
      message: expect.stringMatching(
        /^model\/ holds .*\(reward .*\); last\/ holds those after the last step, 6 \(reward /,
      ),
    });
    const log = (await readLogLines(at('worse/log.jsonl'))).map((line) => JSON.parse(line));
    expect(log.slice(-2)).toMatchObject([
      { type: 'model', step: 6, message: state!.model!.message },
      { type: 'end', step: 6, message: 'All steps are done' },
    ]);
  });

  test('chooses the same after an interruption', async () => {
    const stop = new AbortController();
    const onEvent = ({ type, step }: TrainEvent) => {
      if (type === 'step' && step === 5) stop.abort();
    };
    const interrupted = await trainRun(config('interrupted'), { signal: stop.signal, onEvent });
    expect(interrupted).toMatchObject({ model: undefined, modelFolder: undefined });
    const resumed = await resumeRun(at('interrupted'));
    expect(resumed.model).toEqual((await readRunState(at('worse')))!.model);
    for (const name of ['model', 'last']) {
      expect(adapterOf('interrupted', name)).toEqual(adapterOf('worse', name));
    }
  });

  test('has only model, and says why, without validation', async () => {
    const changes = { validationFile: undefined, validationFraction: 0, maxSteps: 2 };
    const result = await trainRun(config('blind', changes));
    expect(result.lastFolder).toBeUndefined();
    expect(existsSync(at('blind/last'))).toBe(false);
    expect((await readRunState(at('blind')))!.model).toEqual({
      ...{ step: 2, chosenBy: 'last' },
      message:
        'model/ holds the weights after the last step, 2: there was no validation data to find the best',
    });
  });
});

test.skipIf(process.platform !== 'linux')(
  'a full disk ends the run with a sentence about the model, of which nothing is left',
  async () => {
    const run = await RunFolder.create(at('full'), { config: {}, keepCheckpoints: 1 });
    const saving = saveFinalModel(run, {
      ...{ ranking: { metric: 'eval/loss', label: 'loss' }, steps: 1, evaluations: [] },
      ...{ loadCheckpoint: async () => {}, warn: async () => {} },
      saveModel: async (to) => {
        writeFileSync(join(to, 'adapter_config.json'), '{}');
        writeFileSync('/dev/full', 'x');
      },
    });
    await expect(saving).rejects.toThrow(
      `Cannot save the model to ${at('full/model')}: the disk is full (ENOSPC: no space left on device, write); free space and resume the run`,
    );
    run.close();
    const names = ['checkpoints', 'config.json', 'run.json'];
    expect(readdirSync(at('full')).toSorted()).toEqual(names);
  },
);

describe('describeChoice()', () => {
  const ranking = { metric: 'eval/loss', label: 'validation loss' };
  const evaluations = [2, 1, 3].map((loss, i) => ({ step: 5 * i, metrics: { 'eval/loss': loss } }));

  test.each([
    [
      5,
      'model/ holds the weights after step 5, the best by validation (validation loss 1); last/ holds those after the last step, 10 (validation loss 3)',
    ],
    [
      0,
      'model/ holds the weights from before the first step: no later evaluation was better (validation loss 2); last/ holds those after the last step, 10 (validation loss 3)',
    ],
    [
      10,
      'model/ holds the weights after the last step, 10, the best by validation (validation loss 3)',
    ],
    [
      undefined,
      'model/ holds the weights after the last step, 10: no evaluation counts as the best',
    ],
  ])('best step %s', (best, message) => {
    expect(describeChoice(best, { ranking, steps: 10, evaluations }).message).toBe(message);
  });
});
