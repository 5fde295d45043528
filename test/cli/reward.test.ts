import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { mean, standardDeviation } from '../../src/columns/index.ts';
import type { RewardRunConfigOptions } from '../../src/config/stage-run-config.ts';
import { loadModel, loadRewardModel } from '../../src/models/index.ts';
import { rewardRun } from '../../src/run/reward-run.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { pairRows, readLog, writeRows } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

/** The output of the run that all tests share. */
let printed: { stdout: string; stderr: string };

const held = pairRows().slice(0, 3);

beforeAll(async () => {
  folder = await makeTrainFolder();
  const equal = { prompt: 'the', chosen: ' cat', rejected: ' cat' };
  const data = writeRows(folder, 'pairs.jsonl', [...pairRows().slice(3), equal]);
  const validation = writeRows(folder, 'held.jsonl', held);
  const { status, ...rest } = await runInProcess(
    ...['reward', '--model', at('model'), '--data', data, '--validation-file', validation],
    ...['--batch-size', '2', '--num-epochs', '4', '--learning-rate', '1e-2'],
    ...['--output', at('run')],
  );
  expect(status).toBe(0);
  printed = rest;
});

describe('proximal reward', () => {
  test('learns pairs and shows accuracy before, after and by length alone', () => {
    expect(printed.stderr).toContain(
      'Left out 1 of 13 rows: 1 equal-sides; the first: Cannot read ',
    );
    expect(printed.stderr).toMatch(
      /\nstep 20\/20 {2}loss [\d.]+ {2}accuracy 100.0 % {2}margin [\d.]+\n/,
    );
    expect(printed.stdout).toMatch(
      /\nValidation on 3 pairs\n +before \(step 0\) +after \(step 20\)/,
    );
    expect(printed.stdout).toMatch(
      /\n {2}accuracy +[\d.]+ % \[.*\] +100.0 % \[43.9, 100.0\] +66.7 %\n/,
    );
    // The shorter text wins 7 of 9 pairs in training and 2 of 3 in validation.
    expect(printed.stdout).toMatch(/\n {2}"by length" always prefers the shorter text/);
    expect(printed.stdout).toContain(`--reward model:${at('run')}\n`);
  });

  test('saves a model whose scores have mean 0 and standard deviation 1 on the validation texts', async () => {
    const loaded = await loadModel(at('model'));
    const model = await loadRewardModel(at('run/model'), loaded);
    const texts = held.flatMap(({ prompt, chosen, rejected }) => [
      prompt + chosen,
      prompt + rejected,
    ]);
    const tokens = texts.map((text) => loaded.tokenizer.encode(`${text} <eos>`));
    const scores = await model.forward(tokens);
    expect(mean(scores)).toBeCloseTo(0, 5);
    expect(standardDeviation(scores)).toBeCloseTo(1, 5);
    expect([0, 2, 4].every((chosen) => scores[chosen]! > scores[chosen + 1]!)).toBe(true);
  });

  test('scores for PPO, named by the run or by its model', async () => {
    const course = { maxNewTokens: 4, maxSteps: 2, batchSize: 4 };
    const train = (name: string, reward: string) =>
      trainRun({
        ...{ modelName: at('model'), prompts: at('prompts.jsonl'), ...course },
        ...{ reward: [reward], output: at(name) },
      });
    await train('by-run', `model:${at('run')}`);
    await train('by-model', `model:${at('run/model')}`);
    const scores = (name: string) =>
      readLog(at(name), 'samples.jsonl').map((line) => 'score' in line && line.score);
    expect(new Set(scores('by-run')).size).toBeGreaterThan(2);
    expect(scores('by-run')).toEqual(scores('by-model'));
    await expect(train('by-nothing', `model:${at('model')}`)).rejects.toThrow(
      'it must be a run or a folder with adapter_config.json, got a whole model; train a reward model',
    );
  });
});

describe('rewardRun()', () => {
  const run = (name: string, rows: readonly object[], more: Partial<RewardRunConfigOptions> = {}) =>
    rewardRun({
      ...{ modelName: at('model'), data: writeRows(folder, `${name}.jsonl`, rows) },
      ...{ output: at(name), maxSteps: 2, batchSize: 4, ...more },
    });
  const completions = [' cat', ' dog', ' runs'];
  const scale = { ratingMin: 1, ratingMax: 5 };

  test.each([
    ['choices', { completions, best: 1 }, {}, { unit: 'pairs', train: 2, validation: 2 }],
    [
      'rankings',
      { completions, ranking: [2, 0, 1] },
      {},
      { unit: 'pairs', train: 3, validation: 3 },
    ],
    [
      'ratings',
      { completion: ' cat', rating: 4 },
      scale,
      { unit: 'ratings', train: 1, validation: 1 },
    ],
  ])('learns from %s', async (name, row, more, items) => {
    const rows = ['the', 'a dog'].map((prompt) => ({ prompt, ...row }));
    const result = await run(name, rows, more);
    expect(result).toMatchObject({ steps: 2, items });
    expect(result.evaluations!.last.metrics['eval/loss']).toBeGreaterThan(0);
  });

  test('rejects rows that cannot be combined and leaves nothing behind', async () => {
    const rated = { prompt: 'dog', completion: ' cat', rating: 4 };
    const validationFile = writeRows(folder, 'rated.jsonl', [rated]);
    await expect(run('mixed', pairRows(), { ...scale, validationFile })).rejects.toThrow(
      'the validation rows must be pairs like the training rows, got ratings',
    );
    await expect(run('unscaled', [rated])).rejects.toThrow('ratingMin and ratingMax must be set');
    await expect(run('bad', [{ prompt: 'dog' }])).rejects.toThrow('at least one row must be valid');
    await expect(run('half', [rated], { ratingMin: 1 })).rejects.toThrow(
      'Cannot use the reward config: ratingMax must be set together with ratingMin',
    );
  });
});
