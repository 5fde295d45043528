import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import type { TrainEvent } from '../loop/events.ts';
import { appendHumanScore, readHumanRequests } from './human-scores.ts';
import { withoutHumanReward } from './run-rewards.ts';
import { trainRun } from './train-run.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await makeTrainFolder();
});

test('people score training responses only; evaluations use the other rewards', async () => {
  const output = at('mixed');
  const events: TrainEvent[] = [];
  const onEvent = async (event: TrainEvent) => {
    events.push(event);
    if (event.type !== 'control' || event.status !== 'waiting') return;
    const asked = await readHumanRequests(output);
    for (const { id } of asked.filter(({ isWaiting }) => isWaiting)) {
      await appendHumanScore(output, { request: id, score: 100, labeller: 'Ada' });
    }
  };
  const config = { modelName: at('model'), prompts: at('prompts.jsonl'), output };
  const sizes = { maxNewTokens: 6, batchSize: 2, maxSteps: 1, stopOnCollapse: false };
  const reward = ['human=0.5', at('reward.ts')];
  const { metrics } = await trainRun({ ...config, ...sizes, reward }, { onEvent });
  expect(events[0]).toMatchObject({
    type: 'warning',
    message:
      'Evaluations leave out human scores, because people score training responses only; they use reward',
  });
  expect(await readHumanRequests(output)).toHaveLength(2);
  expect(metrics['rewards/human/mean']).toBe(100);
  expect(metrics['objective/scores']).toBeGreaterThan(50);
  const rewards = events.flatMap((event) =>
    event.type === 'evaluation' ? event.report!.performance : [],
  );
  expect(rewards).toHaveLength(2);
  // reward.ts returns at most one per token of six, plus one.
  for (const { reward: mean, explainedVariance } of rewards) {
    expect(mean).toBeGreaterThan(0);
    expect(mean).toBeLessThanOrEqual(7);
    expect(explainedVariance).toBeNaN();
  }
});

test('withoutHumanReward() keeps the other rewards and throws if there are none', () => {
  const reward = ['human=2', 'human:s.jsonl', 'r.ts'];
  expect(withoutHumanReward({ reward })).toEqual({ reward: ['human:s.jsonl', 'r.ts'] });
  expect(() => withoutHumanReward({ reward: ['human'] })).toThrow(
    'Cannot evaluate with the reward human alone: people score training responses only, so another reward is required, got none; ' +
      'add one, such as --reward human:scores.jsonl or --reward reward.ts',
  );
});
