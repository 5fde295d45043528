import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sftRun } from '../src/run/sft-run.ts';
import { trainRun } from '../src/run/train-run.ts';
import { writeByteLevelModel } from './helpers/byte-level-model.ts';
import { readDocument } from './helpers/doc-snippets.ts';
import { type CliResult, runInProcess } from './helpers/run-cli.ts';
import { completionRows, writeRows } from './helpers/stage-setup.ts';
import { makeTrainFolder } from './helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const start = process.cwd();

/** The commands of a document, in order. */
function commandsOf(document: string): string[] {
  return readDocument(document).blocks('sh').join('').trim().split('\n');
}

/** Runs a documented command, with more flags that make it small. */
function run(command: string, ...flags: string[]): Promise<CliResult> {
  const [name, ...args] = command.match(/"[^"]*"|\S+/g)!;
  expect(name).toBe('proximal');
  return runInProcess(...args.map((arg) => arg.replaceAll('"', '')), ...flags);
}

/** The documents run in a folder with the runs that they name, over a tiny model. */
beforeAll(async () => {
  folder = await makeTrainFolder();
  // The documents have prompts with any words.
  rmSync(at('model'), { recursive: true });
  await writeByteLevelModel(at('model'));
  writeRows(folder, 'texts.jsonl', completionRows());
  const shared = { modelName: at('model'), maxSteps: 2, batchSize: 4, learningRate: 1e-2 };
  await trainRun({
    ...{ ...shared, prompts: at('prompts.jsonl'), reward: [at('reward.ts')], maxNewTokens: 4 },
    output: at('runs/polite'),
  });
  await sftRun({ ...shared, data: at('texts.jsonl'), output: at('runs/sft') });
  process.chdir(folder);
});
afterAll(() => process.chdir(start));

describe('docs/how-to/merge-and-export.md', () => {
  const [merge, generate, evaluate, train, ...others] = commandsOf(
    'docs/how-to/merge-and-export.md',
  );

  test('merges into a new folder with the files that it lists', async () => {
    const merged = await run(merge!);
    expect(merged.stderr).toContain('Found a run in runs/polite: the LoRA adapter ');
    expect(merged.status).toBe(0);
    expect(readdirSync('polite-model').sort()).toEqual([
      ...['config.json', 'generation_config.json', 'model.safetensors'],
      ...['tokenizer.json', 'tokenizer_config.json'],
    ]);
    const again = await run(merge!);
    expect(again.stderr).toMatch(/polite-model: it must be empty, got 5 files/);
  });

  test('accepts a run where a model is expected, and prints what it found', async () => {
    expect(others).toEqual([]);
    const small = ['--max-new-tokens', '4', '--batch-size', '2', '--max-steps', '1'];
    for (const [command, flags, found] of [
      [generate, ['--max-new-tokens', '4'], 'runs/polite'],
      [evaluate, [], 'runs/polite'],
      [train, [...small, '--output', 'runs/next'], 'runs/sft'],
    ] as const) {
      const { status, stderr } = await run(command!, ...flags);
      expect(stderr).toMatch(
        new RegExp(`^Found a run in ${found}: the LoRA adapter ${found}/model`),
      );
      expect(status, stderr).toBe(0);
    }
    expect(existsSync('runs/next/model/adapter_config.json')).toBe(true);
  });
});

describe('docs/how-to/extend-a-run.md', () => {
  const [extend, allow, ...others] = commandsOf('docs/how-to/extend-a-run.md');

  test('extends a run by --max-steps', async () => {
    expect(others).toEqual([]);
    expect(extend).toContain(' --max-steps 400');
    const { status, stdout, stderr } = await run(extend!.replace('400', '4'));
    expect(stderr).toMatch(/^Resuming after step 2 of 4\n/m);
    expect(stdout).toMatch(/^All steps are done\. 4 steps in/);
    expect(status).toBe(0);
  });

  test('names changed files, and continues with them by --allow-changed-inputs', async () => {
    writeFileSync('reward.ts', 'export default (s: { response: string }) => s.response.length;');
    const refused = await run(allow!.replace(' --allow-changed-inputs', ''));
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain(`got a changed reward reward.ts (${at('reward.ts')})`);
    const { status, stderr } = await run(allow!, '--max-steps', '5');
    expect(stderr).toContain('Warning: Resuming with changed inputs: a changed reward reward.ts');
    expect(status).toBe(0);
  });
});
