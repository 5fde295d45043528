import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { formatDemo } from '../cli/demo.ts';
import { writeDemoReport } from './demo-report.ts';
import { type DemoStage, runDemo } from './demo-run.ts';

test('runDemo() trains a reward model, runs PPO and compares gold scores (short)', {
  timeout: 120_000,
}, async () => {
  const output = makeTempFolder();
  const stages: DemoStage[] = [];
  const result = await runDemo({ output, short: true, onStage: (stage) => stages.push(stage) });
  expect(stages).toEqual(['reward', 'ppo', 'gold']);
  expect(existsSync(join(output, 'reward-model', 'score_normalization.json'))).toBe(true);
  expect(existsSync(join(output, 'ppo', 'model', 'adapter_model.safetensors'))).toBe(true);
  expect(result.reward).toMatchObject({ pairs: 2720, heldOut: 16 });
  expect(result.first.kl).toBeCloseTo(0, 4);
  expect(result.gold.before).toBeGreaterThan(0);
  const report = await writeDemoReport(result);
  const html = readFileSync(report, 'utf8');
  expect(html.match(/<svg/g)).toHaveLength(4);
  expect(html).not.toContain('NaN');
  const text = formatDemo(result, {
    report,
    output: { write: () => true, columns: 80, isTTY: false },
  });
  expect(text).toMatch(/gold score, 0 to 1 +0\.\d{3} +0\.\d{3}/);
  expect(text).toContain(`open ${report}`);
});
