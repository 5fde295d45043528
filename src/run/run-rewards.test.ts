import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import { LoraAdapter } from '../base-setup/index.ts';
import type { TrainEvent } from '../loop/events.ts';
import { loadModel, RewardModel, randomHead, saveRewardModel } from '../models/index.ts';
import { appendHumanScore, readHumanRequests } from './human-scores.ts';
import { checkRewards, withoutHumanReward } from './run-rewards.ts';
import { trainRun } from './train-run.ts';

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

test('rewards of one kind have their own names in metrics; equal names are rejected', async () => {
  const reward = [
    'feline=keyword:cat',
    'canine=keyword:dog,weight=2',
    `mine=${at('reward.ts')}=0.5`,
  ];
  const config = { modelName: at('model'), prompts: at('prompts.jsonl'), output: at('named') };
  const sizes = { maxNewTokens: 6, batchSize: 2, maxSteps: 1, validationFraction: 0 };
  const { metrics } = await trainRun({ ...config, ...sizes, reward });
  const [feline, canine, mine] = ['feline', 'canine', 'mine'].map(
    (name) => metrics[`rewards/${name}/mean`]!,
  );
  expect(metrics['objective/scores']).toBeCloseTo(feline! + 2 * canine! + 0.5 * mine!, 5);
  for (const names of [
    ['keyword:cat', 'keyword:dog'],
    ['a=keyword:cat', 'a=flesch'],
  ]) {
    await expect(checkRewards({ reward: names })).rejects.toThrow(
      /^Cannot use the rewards: their names must differ, got "(keyword|a)" twice; write a name/,
    );
  }
});

describe('several reward models', () => {
  /** Writes a reward model with its own random head over the shared base. */
  async function writeJudge(name: string, seed: number): Promise<void> {
    const { base, tokenizer } = await loadModel(at('model'));
    const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules(), seed);
    const head = randomHead(base.architecture.config.hidden_size, seed);
    const model = new RewardModel({ base, tokenizer, adapter, head });
    await saveRewardModel(at(name), model, { baseModelNameOrPath: at('model') });
    await base.dispose();
  }

  /** The metrics of the only step of a run whose config file has these rewards. */
  async function metricsOf(name: string, rewards: readonly string[]) {
    const file = at(`${name}.yaml`);
    writeFileSync(
      file,
      `{modelName: model, prompts: prompts.jsonl, maxNewTokens: 6, batchSize: 4, maxSteps: 1,
        validationFraction: 0, reward: ${JSON.stringify(rewards)}}`,
    );
    const flags = ['--config', file, '--output', at(name), '--json'];
    const { status, stdout, stderr } = await runInProcess('train', ...flags);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const events: TrainEvent[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return events.find((event) => event.type === 'step')!.metrics;
  }

  test('have their own metrics, and their weighted sum is the reward', async () => {
    await writeJudge('helpful', 1);
    await writeJudge('honest', 2);
    const joint = await metricsOf('joint', ['helpful=model:helpful=0.5', 'honest=model:honest=-2']);
    const [helpful, honest] = ['helpful', 'honest'].map((name) => joint[`rewards/${name}/mean`]!);
    expect(Math.abs(helpful! - honest!)).toBeGreaterThan(1e-3);
    expect(joint['objective/scores']).toBeCloseTo(0.5 * helpful! - 2 * honest!, 5);
    // The first responses do not depend on the rewards, so each model alone scores the same.
    const [first, second] = [
      await metricsOf('first', ['model:helpful']),
      await metricsOf('second', ['model:honest=3']),
    ];
    expect(first['rewards/RewardModel/mean']).toBeCloseTo(helpful!, 5);
    expect(first['objective/scores']).toBeCloseTo(helpful!, 5);
    expect(second['rewards/RewardModel/mean']).toBeCloseTo(honest!, 5);
    expect(second['objective/scores']).toBeCloseTo(3 * honest!, 5);
  });
});

test('a reward model class in a file is created with a random head, and a warning says so', async () => {
  const file = at('class-reward.js');
  const forward = 'forward(sequences) { return sequences.map((tokens) => tokens.length); }';
  writeFileSync(file, `export default class Helpful { ${forward} }`);
  const warning =
    'The reward model Helpful is a class, so it is created with an untrained random head: what super.forward() returns means nothing; ' +
    'use --reward model:folder with a trained head unless the class computes its own scores';
  const config = { modelName: at('model'), prompts: at('prompts.jsonl'), reward: [file] };
  const sizes = { maxNewTokens: 6, batchSize: 2, maxSteps: 1, validationFraction: 0 };
  const events: TrainEvent[] = [];
  await trainRun(
    { ...config, ...sizes, output: at('class') },
    { onEvent: (event) => void events.push(event) },
  );
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(warnings).toEqual([warning]);
  const what = ['--model', at('model'), '--prompts', at('prompts.jsonl'), '--reward', file];
  const { status, stderr } = await runInProcess('evaluate', ...what, '--max-new-tokens', '6');
  expect(status).toBe(0);
  expect(stderr).toContain(warning);
});
