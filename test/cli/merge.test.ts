import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readAdapter } from '../../src/base-setup/index.ts';
import { openSafetensors } from '../../src/base-setup/safetensors/open-weights.ts';
import { loadModel, SFTModel } from '../../src/models/index.ts';
import { rewardRun } from '../../src/run/reward-run.ts';
import { sftRun } from '../../src/run/sft-run.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { completionRows, pairRows, writeRows } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const texts = [
  [3, 4, 5, 6, 7],
  [8, 9],
];

/** Logits of all tokens. */
async function logitsOf(modelFolder: string, adapterFolder?: string): Promise<number[]> {
  const { base } = await loadModel(modelFolder);
  const adapter = adapterFolder && (await readAdapter(adapterFolder, base)).adapter;
  const { logits } = await new SFTModel({ base, ...(adapter && { adapter }) }).forward(texts);
  await base.dispose();
  return logits.flatMap(({ data }) => Array.from(data));
}

function largestDifference(a: readonly number[], b: readonly number[]): number {
  expect(a).toHaveLength(b.length);
  return Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));
}

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeRows(folder, 'texts.jsonl', completionRows());
  writeRows(folder, 'pairs.jsonl', pairRows());
  const shared = { modelName: at('model'), maxSteps: 2, batchSize: 4, learningRate: 1e-2 };
  await sftRun({ ...shared, data: at('texts.jsonl'), output: at('sft') });
  await rewardRun({ ...shared, data: at('pairs.jsonl'), output: at('judge') });
});

describe('proximal merge', () => {
  test('writes a whole model with the logits of base and adapter', async () => {
    const { status, stdout, stderr } = await runInProcess('merge', at('sft'), '--out', at('whole'));
    expect(stderr).toContain(
      `Found a run in ${at('sft')}: the LoRA adapter ${at('sft/model')} over ${at('model')}\n`,
    );
    expect(stdout).toMatch(
      /^Merged .*sft\/model into .*model: 27\.2 k parameters, .* in .*whole\n/,
    );
    expect(status).toBe(0);
    expect(readdirSync(at('whole')).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const merged = await logitsOf(at('whole'));
    expect(largestDifference(merged, await logitsOf(at('model'), at('sft/model')))).toBeLessThan(
      1e-5,
    );
    expect(largestDifference(merged, await logitsOf(at('model')))).toBeGreaterThan(1e-2);
  });

  test('writes the number format of --dtype, by default that of the base', async () => {
    const dtypeOf = async (name: string) => {
      const reader = await openSafetensors(at(name));
      await reader.close();
      return reader.tensors[0]!.dtype;
    };
    const merge = (...args: string[]) => runInProcess('merge', at('sft/model'), ...args);
    await merge('--out', at('bf16'), '--dtype', 'bfloat16');
    expect(await dtypeOf('bf16')).toBe('BF16');
    expect(JSON.parse(readFileSync(at('bf16/config.json'), 'utf8')).torch_dtype).toBe('bfloat16');
    // The base in bfloat16 has other weights than the one in float32.
    const { status, stderr } = await merge('--out', at('other'), '--model', at('bf16'));
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /Cannot use the adapter .*sft\/model: its base must be the one it was trained on, ".*model" \(weights \w{12}\), got ".*bf16" \(weights \w{12}\), where the weights have other values/,
    );
    expect(await dtypeOf('model')).toBe('F32');
    await merge('--out', at('plain'));
    expect(await dtypeOf('plain')).toBe('F32');
  });

  test('overwrites nothing', async () => {
    cpSync(at('model/config.json'), at('full/config.json'));
    const { status, stderr } = await runInProcess('merge', at('sft'), '--out', at('full'));
    expect(status).toBe(2);
    expect(stderr).toBe(
      `Cannot write a model to ${at('full')}: it must be empty, got 1 files; choose another folder\n`,
    );
  });

  test.each([
    ['judge', 'got a reward model, whose head only an adapter has'],
    ['model', 'got a whole model'],
    ['.', 'it must be a run, an adapter or a whole model, got no run.json, adapter_config.json'],
  ])('rejects %s', async (place, fault) => {
    const { status, stderr } = await runInProcess('merge', at(place), '--out', at('never'));
    expect(status).toBe(2);
    expect(stderr).toContain(fault);
    expect(existsSync(at('never'))).toBe(false);
  });
});

describe('a run folder is accepted as a model', () => {
  const prompt = ['--prompt', 'the cat', '--max-new-tokens', '4', '--temperature', '0'];

  test('by generate, like its base with its adapter', async () => {
    const expected = await runInProcess(
      ...['generate', '--model', at('model'), '--adapter', at('sft/model'), ...prompt],
    );
    expect(expected.status).toBe(0);
    for (const flags of [
      ['--model', at('sft')],
      ['--model', at('sft/model')],
      ['--adapter', at('sft')],
      ['--model', at('model'), '--adapter', at('sft')],
    ]) {
      const { stdout } = await runInProcess('generate', ...flags, ...prompt);
      expect(stdout).toBe(expected.stdout);
    }
    const twice = ['--model', at('sft'), '--adapter', at('sft')];
    const { status, stderr } = await runInProcess('generate', ...twice, ...prompt);
    expect(status).toBe(2);
    expect(stderr).toContain('there must be one adapter, got two');
  });

  test('by inspect, which shows its base', async () => {
    const { stdout, stderr } = await runInProcess('inspect', '--model', at('sft'), '--json');
    expect(stderr).toContain(`Found a run in ${at('sft')}`);
    expect(JSON.parse(stdout)).toMatchObject({ model: at('model') });
  });

  test('by train, sft and reward, which start from its adapter', async () => {
    const start = { modelName: at('model'), adapter: at('sft/model') };
    const configOf = (name: string) => JSON.parse(readFileSync(at(`${name}/config.json`), 'utf8'));
    const shared = { modelName: at('sft'), maxSteps: 1, batchSize: 4 };
    const reward = [at('reward.ts')];
    await trainRun({
      ...{ ...shared, prompts: at('prompts.jsonl'), reward, maxNewTokens: 4, output: at('ppo') },
    });
    await sftRun({ ...shared, data: at('texts.jsonl'), output: at('sft2'), learningRate: 1e-9 });
    await rewardRun({ ...shared, data: at('pairs.jsonl'), output: at('judge2') });
    for (const name of ['ppo', 'sft2', 'judge2']) expect(configOf(name)).toMatchObject(start);
    const [before, after] = [
      await logitsOf(at('model'), at('sft/model')),
      await logitsOf(at('model'), at('sft2/model')),
    ];
    expect(largestDifference(before, after)).toBeLessThan(1e-4);
  });

  test('by evaluate, with the settings of the run', async () => {
    const { status, stdout } = await runInProcess('evaluate', '--model', at('ppo'), '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ policy: expect.any(Object) });
  });

  test('not by train if it is a reward model', async () => {
    const data = ['--prompts', at('prompts.jsonl'), '--reward', at('reward.ts')];
    const { status, stderr } = await runInProcess('train', '--model', at('judge'), ...data);
    expect(status).toBe(2);
    expect(stderr).toContain(
      `Cannot start from ${at('judge')}: it must be a language model, got a reward model; use it as --reward model:${at('judge')}`,
    );
  });
});
