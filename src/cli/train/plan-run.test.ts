import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTrainFolder } from '../../../test/helpers/train-setup.ts';
import { runConfigSchema } from '../../config/run-config.ts';
import { formatPlan } from './format-plan.ts';
import { planRun } from './plan-run.ts';

test('a run that people alone score has no evaluations, one with another reward has', async () => {
  const folder = await makeTrainFolder();
  const planOf = (...reward: string[]) =>
    planRun(
      runConfigSchema.parse({
        ...{ modelName: join(folder, 'model'), prompts: join(folder, 'prompts.jsonl'), reward },
        ...{ batchSize: 2, maxNewTokens: 6, maxSteps: 4, evalInterval: 2 },
      }),
    );
  const people = await planOf('human');
  expect(people.prompts.validation).toBeGreaterThan(0);
  expect(people.evaluations).toBe(0);
  expect(formatPlan(people, process.stderr)).toMatch(/evaluations +0 +nobody is asked to score/);
  // At the start, after step 2 and at the end.
  const mixed = await planOf('human', join(folder, 'reward.ts'));
  expect(mixed.evaluations).toBe(3);
  expect(formatPlan(mixed, process.stderr)).not.toContain('nobody');
  // Their time is part of the whole, at whatever speed was measured.
  expect(people.seconds * people.matmulFlops).toBeLessThan(mixed.seconds * mixed.matmulFlops);
});
