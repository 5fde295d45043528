import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import type { TrainEvent } from '../loop/events.ts';
import { readRunState } from './run-state.ts';
import { resumeRun, trainRun } from './train-run.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeFileSync(at('empty.jsonl'), '\n');
  writeFileSync(at('long.txt'), 'the cat '.repeat(50));
  writeFileSync(at('some-long.txt'), `${'the cat '.repeat(50)}\nthe cat\n`);
});

/** The config of a run of one step. */
const config = (output: string, changes: Partial<RunConfigOptions> = {}) => ({
  ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
  ...{ maxNewTokens: 6, maxSteps: 1, output: at(output), ...changes },
});

describe('trainRun() leaves nothing behind if it cannot start:', () => {
  test.each([
    ['empty.jsonl', 'reward.ts', /^Cannot read .*: it must have at least one row, got none$/],
    [
      'long.txt',
      'reward.ts',
      /prompts must have at most 34 tokens .* got 100 in the shortest of 1;/,
    ],
    ['nowhere.jsonl', 'reward.ts', /nowhere.jsonl: it must be a file or .* got no such file$/],
    ['prompts.jsonl', 'nowhere.ts', /nowhere.ts: it must be a TypeScript or .* got no such file$/],
    ['prompts.jsonl', 'prompts.jsonl', /^Cannot (use|load) .*prompts.jsonl: /],
  ])('prompts %s, reward %s', async (prompts, reward, fault) => {
    const changes = { prompts: at(prompts), reward: [at(reward)] };
    await expect(trainRun(config('never', changes))).rejects.toThrow(fault);
    expect(existsSync(at('never'))).toBe(false);
  });
});

test('a failed run keeps its folder and the reason, and continues once the reward works', async () => {
  writeFileSync(
    at('moody.mjs'),
    `import { existsSync } from 'node:fs';
export default () => {
  if (existsSync(${JSON.stringify(at('idea'))})) return 1;
  throw new Error('no idea');
};`,
  );
  const fault = 'Cannot score sample 0 with "moody": no idea';
  await expect(trainRun(config('moody', { reward: [at('moody.mjs')] }))).rejects.toThrow(fault);
  expect(await readRunState(at('moody'))).toMatchObject({
    status: 'failed',
    message: expect.stringContaining(`${fault} (Error at ${at('moody.mjs')}:4); the response is "`),
  });
  writeFileSync(at('idea'), '');
  expect(await resumeRun(at('moody'))).toMatchObject({ steps: 1, reason: 'completed' });
  expect(await readRunState(at('moody'))).toMatchObject({ status: 'completed', step: 1 });
});

test('leaves out prompts that are too long, with a warning', async () => {
  const events: TrainEvent[] = [];
  const changes = { prompts: at('some-long.txt'), validationFraction: 0 };
  const onEvent = (event: TrainEvent) => void events.push(event);
  const result = await trainRun(config('some', changes), { onEvent });
  expect(events[0]).toEqual({
    type: 'warning',
    step: 0,
    message: `Left out 1 of 2 prompts: 1 of more than 34 tokens (the model's context of 40 minus 6 for maxNewTokens), up to 100; the first: ${at('some-long.txt')} line 1`,
  });
  expect(result).toMatchObject({ modelFolder: at('some/model'), evaluations: undefined });
});

test('weights rewards by the number after =', async () => {
  writeFileSync(at('two.mjs'), 'export default () => 2;');
  writeFileSync(at('ten.mjs'), 'export default () => 10;');
  const reward = [`${at('two.mjs')}=3`, `${at('ten.mjs')}=-0.5`];
  const { metrics } = await trainRun(config('weighted', { reward, validationFraction: 0 }));
  expect(metrics['objective/scores']).toBe(3 * 2 - 0.5 * 10);
});

test('model: is a reward model on the same base, and the value model can start as its copy', async () => {
  // A value model is saved like a reward model: an adapter and a head.
  const { modelFolder } = await trainRun(config('first', { validationFraction: 0 }));
  const reward = [`model:${join(modelFolder!, 'value')}`];
  const changes = { reward, valueInit: 'reward', validationFraction: 0 } as const;
  const { metrics } = await trainRun(config('second', changes));
  expect(Number.isFinite(metrics['rewards/RewardModel/mean'])).toBe(true);
  expect(metrics['rewards/RewardModel/mean']).not.toBe(0);
});

test('human: uses the score of a text, or humanFallback if it has none', async () => {
  const line = JSON.stringify({ prompt: 'the', response: 'never said', score: 5 });
  writeFileSync(at('scores.jsonl'), `${line}\n`);
  const changes = { reward: [`human:${at('scores.jsonl')}`], validationFraction: 0 };
  const { metrics } = await trainRun(config('human', { ...changes, humanFallback: 0.5 }));
  expect(metrics['objective/scores']).toBe(0.5);
  await expect(trainRun(config('strict', changes))).rejects.toThrow(
    /scores.jsonl must contain its score, got none for the response/,
  );
});
