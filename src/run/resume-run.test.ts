import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { completionRows, readLog, writeRows } from '../../test/helpers/stage-setup.ts';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import type { SFTRunConfigOptions } from '../config/stage-run-config.ts';
import type { TrainEvent } from '../loop/events.ts';
import { readRunState } from './run-state.ts';
import { resumeSFTRun, sftRun } from './sft-run.ts';
import { resumeRun, trainRun } from './train-run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(at(name), text);
const bytesOf = (name: string) => readFileSync(join(at(name), 'adapter_model.safetensors'));

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeRows(folder, 'texts.jsonl', completionRows());
});

const ppoConfig = (output: string, changes: Partial<RunConfigOptions> = {}): RunConfigOptions => ({
  ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
  ...{ maxNewTokens: 4, batchSize: 4, learningRate: 1e-2, maxSteps: 1, output: at(output) },
  ...changes,
});

const sftConfig = (output: string, changes: Partial<SFTRunConfigOptions> = {}) => ({
  ...{ modelName: at('model'), data: at('texts.jsonl'), batchSize: 4, output: at(output) },
  ...{ maxSteps: 2, saveInterval: 1, ...changes },
});

/** The warnings of a run. */
async function warningsOf(
  run: (onEvent: (event: TrainEvent) => void) => Promise<unknown>,
): Promise<string[]> {
  const warnings: string[] = [];
  await run((event) => void (event.type === 'warning' && warnings.push(event.message)));
  return warnings;
}

describe('a run with changed inputs', () => {
  test('is not resumed and is unchanged; allowChangedInputs resumes it', async () => {
    write('words.ts', "export const word = 'cat';");
    write(
      'inputs.ts',
      "import { word } from './words.ts';\nexport default ({ response }: { response: string }) => response.split(word).length;",
    );
    const prompts = readFileSync(at('prompts.jsonl'), 'utf8');
    write('own-prompts.jsonl', prompts);
    write('held-out.jsonl', '{"prompt": "a cat likes the dog"}');
    const inputs = { prompts: at('own-prompts.jsonl'), validationFile: at('held-out.jsonl') };
    await trainRun(ppoConfig('changed', { reward: [at('inputs.ts')], ...inputs }));
    const state = await readRunState(at('changed'));
    // A row that is newer than the checkpoint, as after a crash.
    appendFileSync(at('changed/metrics.jsonl'), '{"step": 2}\n');
    const metrics = readFileSync(at('changed/metrics.jsonl'), 'utf8');
    write('words.ts', "export const word = 'dog';");
    write('own-prompts.jsonl', `${prompts}\n{"prompt": "the dog"}`);
    write('held-out.jsonl', '{"prompt": "a cat likes the cat"}');
    const changes = [
      `a changed training data own-prompts.jsonl (${at('own-prompts.jsonl')})`,
      `a changed validation data held-out.jsonl (${at('held-out.jsonl')})`,
      `a changed import words.ts of the reward inputs.ts (${at('words.ts')})`,
    ];
    await expect(resumeRun(at('changed'), { maxSteps: 2 })).rejects.toThrow(
      new Error(
        `Cannot resume ${at('changed')}: everything it reads must be as when it started, got ${changes.join(', ')}; restore it, start a new run, or continue with the changes by --allow-changed-inputs`,
      ),
    );
    expect(await readRunState(at('changed'))).toEqual(state);
    expect(JSON.parse(readFileSync(at('changed/config.json'), 'utf8')).maxSteps).toBe(1);
    expect(readFileSync(at('changed/metrics.jsonl'), 'utf8')).toBe(metrics);
    write('own-prompts.jsonl', prompts);
    const warnings = await warningsOf((onEvent) =>
      resumeRun(at('changed'), { maxSteps: 2, allowChangedInputs: true, onEvent }),
    );
    expect(warnings).toEqual(
      expect.arrayContaining(changes.slice(1).map((it) => `Resuming with changed inputs: ${it}`)),
    );
    // The new inputs are those to compare with from now on.
    await resumeRun(at('changed'), { maxSteps: 3 });
  });

  test('is not resumed if the tokenizer of its base has changed', async () => {
    await sftRun(sftConfig('other-base'));
    const other = join(await makeTrainFolder(), 'model');
    const file = at('other-base/config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    const tokenizer = join(other, 'tokenizer_config.json');
    writeFileSync(tokenizer, `${readFileSync(tokenizer, 'utf8')} `);
    writeFileSync(file, JSON.stringify({ ...config, modelName: other }));
    await expect(resumeSFTRun(at('other-base'))).rejects.toThrow(
      `got a changed tokenizer_config.json of the base model (${tokenizer}); restore it`,
    );
  });
});

describe('maxSteps of a finished run', () => {
  test.each(['all', 1])(
    'extends PPO to the result of a run that started with that many steps: loraLayers %s',
    async (loraLayers) => {
      const [whole, extended] = [`whole-${loraLayers}`, `extended-${loraLayers}`];
      await trainRun(ppoConfig(whole, { loraLayers, maxSteps: 5 }));
      await trainRun(ppoConfig(extended, { loraLayers, maxSteps: 2 }));
      // Five steps are more than one epoch of 11 prompts.
      const { steps } = await resumeRun(at(extended), { maxSteps: 5 });
      expect(steps).toBe(5);
      for (const role of ['policy', 'value']) {
        expect(bytesOf(`${extended}/checkpoints/checkpoint-000005/${role}`)).toEqual(
          bytesOf(`${whole}/checkpoints/checkpoint-000005/${role}`),
        );
      }
    },
  );

  test('extends SFT: exactly if the learning rate is constant, otherwise with a warning', async () => {
    await sftRun(sftConfig('sft-whole', { schedule: 'constant', maxSteps: 4 }));
    await sftRun(sftConfig('sft-extended', { schedule: 'constant' }));
    await resumeSFTRun(at('sft-extended'), { maxSteps: 4 });
    const weights = 'checkpoints/checkpoint-000004/weights.safetensors';
    expect(readFileSync(at(`sft-extended/${weights}`))).toEqual(
      readFileSync(at(`sft-whole/${weights}`)),
    );
    await sftRun(sftConfig('sft-cosine'));
    const warnings = await warningsOf((onEvent) =>
      resumeSFTRun(at('sft-cosine'), { maxSteps: 4, onEvent }),
    );
    expect(warnings).toEqual([
      'The run now has 4 steps instead of 2: from step 2 on, the learning rate follows the cosine schedule over 4 steps, so the result differs from a run that started with 4 steps',
    ]);
    const rates = readLog(at('sft-cosine'), 'metrics.jsonl').map((row) => 'lr' in row && row.lr);
    // ½(1 + cos(π·s/T)) of 2e-4, with T = 2 for the first two steps and 4 for the others.
    const expected = [2e-4, 1e-4, 1e-4, 2.9289e-5];
    expect(rates).toEqual(expected.map((rate) => expect.closeTo(rate, 9)));
  });

  test('must not be below the completed steps', async () => {
    await sftRun(sftConfig('too-few'));
    const state = await readRunState(at('too-few'));
    await expect(resumeSFTRun(at('too-few'), { maxSteps: 1 })).rejects.toThrow(
      'Cannot resume: maxSteps must be at least the 2 steps that are completed, got 1; raise it or start a new run',
    );
    expect(await readRunState(at('too-few'))).toEqual(state);
  });
});

describe('the folder of a run that failed', () => {
  test('accepts a new run if no step was completed', async () => {
    write('broken.ts', "export default () => { throw new Error('no score'); };");
    const broken = ppoConfig('retried', { reward: [at('broken.ts')], validationFraction: 0 });
    await expect(trainRun(broken)).rejects.toThrow('no score');
    const warnings = await warningsOf((onEvent) => trainRun(ppoConfig('retried'), { onEvent }));
    expect(warnings[0]).toMatch(
      /^Replaced the run of \S+ in this folder, which had completed no step: .*no score/,
    );
    expect(await readRunState(at('retried'))).toMatchObject({ status: 'completed', step: 1 });
  });

  test('does not accept a new run if a step was completed', async () => {
    write(
      'tired.ts',
      'let calls = 0;\nexport default () => { if (++calls > 4) throw new Error(); return 1; };',
    );
    const failing = ppoConfig('kept', {
      reward: [at('tired.ts')],
      validationFraction: 0,
      maxSteps: 2,
    });
    await expect(trainRun(failing)).rejects.toThrow('Cannot score');
    await expect(trainRun(ppoConfig('kept'))).rejects.toThrow(
      /it must not contain a run, got one started at .*, now at step 1; continue it with --resume/,
    );
  });
});
