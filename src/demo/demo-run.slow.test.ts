import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { formatDemo } from '../cli/demo-summary.ts';
import { createDemoFolder, openDemoFolder } from './demo-folder.ts';
import { type DemoStage, KL_BOUND, runDemo } from './demo-run.ts';

test('runDemo() trains a reward model, runs PPO and compares gold scores (short)', {
  timeout: 240_000,
}, async () => {
  const output = makeTempFolder();
  const stages: DemoStage[] = [];
  const folder = await createDemoFolder(output, { short: true });
  const result = await runDemo(folder, { onStage: (stage) => stages.push(stage) });
  expect(stages).toEqual(['reward', 'ppo', 'gold']);
  expect(existsSync(join(output, 'reward', 'model', 'score_normalization.json'))).toBe(true);
  expect(existsSync(join(output, 'ppo', 'model', 'adapter_model.safetensors'))).toBe(true);
  expect(result.reward).toMatchObject({ pairs: 1592, heldOut: 8 });
  expect(result.first.kl).toBeCloseTo(0, 4);
  expect(result.gold.before).toBeGreaterThan(0);
  const text = formatDemo(result, { write: () => true, columns: 80, isTTY: false });
  expect(text).toMatch(/gold score, 0 to 1 +0\.\d{3} +0\.\d{3}/);
  expect(text).not.toContain('NaN');
  const long = text.split('\n').filter((line) => line.length > 80);
  // Paths cannot be broken.
  expect(long.filter((line) => !line.includes(output))).toEqual([]);
  expect(text).toContain(`proximal report ${join(output, 'ppo')}\n`);
});

test('runDemo() raises the gold score of new summaries from below 0.45 to above 0.75', {
  timeout: 900_000,
}, async () => {
  const { gold, reward, first, last } = await runDemo(await createDemoFolder(makeTempFolder()));
  expect(gold.posts).toBe(200);
  expect(gold.before).toBeLessThan(0.45);
  expect(gold.after).toBeGreaterThan(0.75);
  expect(gold.winRate).toBeGreaterThan(0.8);
  expect(reward.accuracy).toBeGreaterThan(reward.lengthAccuracy + 0.05);
  expect(last.reward).toBeGreaterThan(first.reward + 1);
  expect(last.kl / last.length).toBeLessThan(KL_BOUND);
});

test('runDemo() continues after an interruption in any stage, with the same result', {
  timeout: 480_000,
}, async () => {
  const whole = await runDemo(await createDemoFolder(makeTempFolder(), { short: true }));
  const output = makeTempFolder();
  await createDemoFolder(output, { short: true });
  for (const stage of ['reward', 'ppo', 'gold'] as const) {
    const controller = new AbortController();
    const stop = () => controller.abort(new Error('stop'));
    const interrupted = runDemo(await openDemoFolder(output), {
      signal: controller.signal,
      onStage: (reached) => reached === 'gold' && stage === 'gold' && stop(),
      onEvent: (reached, event) => {
        if (reached === stage && event.type === 'step') stop();
      },
    });
    await expect(interrupted).rejects.toThrow('stop');
    const isTrained = existsSync(join(output, 'ppo', 'model'));
    expect({ stage, isTrained }).toEqual({ stage, isTrained: stage === 'gold' });
  }
  const resumed = await runDemo(await openDemoFolder(output));
  expect(resumed.gold).toEqual(whole.gold);
  expect(resumed.reward.accuracy).toBe(whole.reward.accuracy);
  expect(resumed.last).toEqual(whole.last);
});
