import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import { resolveRunConfig, runConfigSchema } from '../config/run-config.ts';
import { formatPlan } from './plan.ts';
import { planTraining } from './train.ts';

const format = { prefix: 'ppo', output: process.stderr };

test('a plan has evaluations only if there is a reward other than people', async () => {
  const folder = await makeTrainFolder();
  const planOf = (...reward: string[]) =>
    planTraining(
      runConfigSchema.parse({
        ...{ modelName: join(folder, 'model'), prompts: join(folder, 'prompts.jsonl'), reward },
        ...{ batchSize: 2, maxNewTokens: 6, maxSteps: 4, evalInterval: 2 },
      }),
    );
  const people = await planOf('human');
  expect(people.validation).toBeGreaterThan(0);
  expect(people.evaluations).toBe(0);
  expect(formatPlan(people, format)).toMatch(
    /evaluations +0 +people score training responses only/,
  );
  // Before the first step, after step 2 and after the last.
  const mixed = await planOf('human', join(folder, 'reward.ts'));
  expect(mixed.evaluations).toBe(3);
  expect(formatPlan(mixed, format)).not.toContain('people score');
  // Evaluations take part of the time, at any measured speed.
  expect(people.seconds * people.matmulFlops).toBeLessThan(mixed.seconds * mixed.matmulFlops);
});

test('a plan shows what its preset sets and what the config overrides', async () => {
  const folder = await makeTrainFolder();
  const plan = await planTraining(
    resolveRunConfig({
      ...{ modelName: join(folder, 'model'), prompts: join(folder, 'prompts.jsonl') },
      ...{ reward: [join(folder, 'reward.ts')], maxNewTokens: 6, maxSteps: 4 },
      ...{ preset: 'specification', learningRate: 3e-4 },
    }),
  );
  const text = formatPlan(plan, format);
  expect(text).toMatch(/Preset specification\n/);
  expect(text).toMatch(/rewardPlacement +every\n/);
  expect(text).toMatch(/centerRewards +true\n/);
  expect(text).toMatch(/learningRate +0.0003 +overrides 0.00001\n/);
});
