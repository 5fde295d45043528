import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const train = (...flags: string[]) =>
  runInProcess('train', '--config', at('train.yaml'), '--max-steps', '1', ...flags);

beforeAll(async () => {
  folder = await makeTrainFolder();
  mkdirSync(at('full'));
  writeFileSync(at('full/notes.txt'), 'mine');
  writeFileSync(at('throws.ts'), "throw new Error('no credit');");
  writeFileSync(at('no-function.ts'), 'export default 3;');
  writeFileSync(at('scores.jsonl'), '{');
  writeFileSync(at('empty.txt'), '');
  writeFileSync(at('bad.jsonl'), '{"prompt": 3}\n');
  for (const name of ['no-weights', 'no-tokenizer', 'no-config', 'other-shape']) {
    cpSync(at('model'), at(name), { recursive: true });
  }
  rmSync(at('no-weights/model.safetensors'));
  rmSync(at('no-tokenizer/tokenizer.json'));
  rmSync(at('no-config/config.json'));
  const config = JSON.stringify({ model_type: 'qwen3' });
  writeFileSync(at('other-shape/config.json'), config);
});

describe('--dry-run', () => {
  test.each([
    ['an output folder with files', ['--output', 'full'], /^Cannot start a run in .*full: it must/],
    ['an output that is a file', ['--output', 'empty.txt'], /it must be a folder, got a file/],
    ['a reward that does not exist', ['--reward', 'none.ts'], /got no such file/],
    ['a reward file that throws', ['--reward', 'throws.ts'], /no credit/],
    [
      'a reward file without a function',
      ['--reward', 'no-function.ts'],
      /^Cannot use .*no-function/,
    ],
    ['a damaged file of scores', ['--reward', 'human:scores.jsonl'], /scores\.jsonl/],
    ['an unknown reward', ['--reward', 'brevty'], /did you mean "brevity"/],
    ['prompts that do not exist', ['--prompts', 'none.txt'], /none\.txt/],
    ['empty prompts', ['--prompts', 'empty.txt'], /empty\.txt/],
    ['prompts that are not text', ['--prompts', 'bad.jsonl'], /bad\.jsonl/],
    ['prompts that are too long', ['--max-new-tokens', '40'], /must be below the model's context/],
    ['a model that does not exist', ['--model', './none'], /none/],
    ['a model without a config', ['--model', 'no-config'], /config\.json/],
    ['a model without weights', ['--model', 'no-weights'], /safetensors/],
    ['a model without a tokenizer', ['--model', 'no-tokenizer'], /tokenizer\.json/],
    ['a config of another model', ['--model', 'other-shape'], /other-shape/],
    ['an adapter that does not exist', ['--adapter', 'none'], /none/],
    ['too little memory', ['--memory', '1MB'], /memory/],
  ])('fails as the run does for %s', async (_, [flag, value], message) => {
    const path = /^[\w./-]+(\.\w+)?$/.test(value!) && !/^(40|1MB|brevty)$/.test(value!);
    const argument = value!.startsWith('human:')
      ? `human:${at('scores.jsonl')}`
      : path
        ? at(value!)
        : value!;
    const output = flag === '--output' ? [] : ['--output', at('new')];
    const planned = await train(flag!, argument, ...output, '--dry-run');
    expect(planned.stderr).toMatch(message);
    expect(planned.stderr.trim()).not.toContain('\n');
    const ran = await train(flag!, argument, ...output);
    expect({ status: planned.status, stderr: planned.stderr }).toEqual({
      status: ran.status,
      stderr: ran.stderr,
    });
    expect(planned.status).not.toBe(0);
  });
});

test('evaluate reports a missing run', async () => {
  const { status, stderr } = await runInProcess('evaluate', '--adapter', at('no-run'));
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `Cannot use the adapter ${at('no-run')}: it must be a run or a folder with adapter_config.json, got no such folder\n`,
  });
});
