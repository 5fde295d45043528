import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { defaultLoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import { writeAdapter } from '../../src/base-setup/lora/peft-files.ts';

import { loadBase, readConfig } from '../../src/models/decoder/load-model.ts';
import { type CliResult, endOf, runCli, runInProcess, startCli } from '../helpers/run-cli.ts';
import { writeTinyTokenizer } from '../helpers/tiny-tokenizer.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const folder = mkdtempSync(join(tmpdir(), 'proximal-cli-'));
const model = join(folder, 'model');
const tokenizer = join(folder, 'tokenizer');
const shape = ['--hidden-size', '32', '--num-attention-heads', '4', '--num-layers', '2'];
const initArgs = ['init', '--out', model, '--tokenizer', tokenizer, ...shape];
let init: CliResult;

const readJson = (name: string) => JSON.parse(readFileSync(join(model, name), 'utf8'));
const generate = (...args: string[]) => runInProcess('generate', '--model', model, ...args);

beforeAll(async () => {
  writeTinyTokenizer(tokenizer);
  init = await runCli(...initArgs, '--max-position-embeddings', '100000', '--seed', '7');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('proximal init', () => {
  test('writes a folder with config, weights and tokenizer', () => {
    expect(init).toEqual({
      status: 0,
      stdout: `Created a qwen3 model with random weights in ${model}: 27.2 k parameters, 109 kB\n`,
      stderr: '',
    });
    expect(readdirSync(model).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  test('takes the vocabulary size and the special tokens from the tokenizer', () => {
    const ids = { eos_token_id: 1, pad_token_id: 0 };
    const config = { model_type: 'qwen3', vocab_size: 11, bos_token_id: null, ...ids };
    expect(readJson('config.json')).toMatchObject(config);
    expect(readJson('generation_config.json')).toEqual({ _from_model_config: true, ...ids });
  });

  test('rejects a folder that is not empty', async () => {
    expect(await runInProcess(...initArgs)).toEqual({
      status: 2,
      stdout: '',
      stderr: `Cannot write a model to ${model}: it must be empty, got 5 files; choose another folder or pass --force\n`,
    });
  });

  test('rejects a vocabulary that is smaller than the tokenizer', async () => {
    expect(await runInProcess(...initArgs, '--force', '--vocab-size', '10')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        "Cannot use the model config: --vocab-size must be at least the tokenizer's 11, got 10\n",
    });
  });
});

describe('proximal inspect', () => {
  test('--json counts parameters, bytes on disk and in memory', async () => {
    const { status, stdout, stderr } = await runInProcess('inspect', '--model', model, '--json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const report = JSON.parse(stdout);
    // Per layer: 4 projections of 32², 3 of the MLP of 32·96, 2 norms of 32, 2 of 8.
    const perLayer = 4 * 32 ** 2 + 3 * 32 * 96 + 2 * 32 + 2 * 8;
    const total = 2 * perLayer + 32 + 11 * 32;
    expect(report).toMatchObject({
      model,
      architecture: { model_type: 'qwen3', vocab_size: 11, head_dim: 8 },
      parameters: { total, perLayer, embedding: 11 * 32, head: 0 },
      files: [{ name: 'model.safetensors', bytes: 4 * total, dtypes: { F32: 4 * total } }],
      memory: { base: 4 * total, kvCache: { perToken: 2 * 2 * 32 * 4 } },
    });
  });

  test('prints tables for people', async () => {
    const { stdout } = await runInProcess('inspect', '--model', model);
    expect(stdout).toContain('  heads        4, size 8\n');
    expect(stdout).toContain('  model.safetensors  109 kB  F32\n');
  });

  test('reports a missing model in one line with exit code 1', async () => {
    expect(await runInProcess('inspect', '--model', './nothing')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Cannot find model "./nothing": it must be an existing folder or a hub id such as "Qwen/Qwen3-0.6B"\n',
    });
  });
});

describe('proximal generate', () => {
  test('--json prints one line per text; the same seed repeats the same texts', async () => {
    const args = ['--prompt', 'the cat', '--prompt', 'a dog', '--num-return-sequences', '2'];
    const options = [...args, '--max-new-tokens', '6', '--json', '--seed'];
    const [first, same, other] = [
      await generate(...options, '5'),
      await generate(...options, '5'),
      await generate(...options, '6'),
    ];
    expect(first.stdout).toBe(same.stdout);
    expect(first.stdout).not.toBe(other.stdout);
    const texts = first.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const places = texts.map(({ promptIndex, sample }) => `${promptIndex}.${sample}`);
    expect(places.sort()).toEqual(['0.0', '0.1', '1.0', '1.1']);
    for (const { text, tokens, pieces, logprobs, finishReason } of texts) {
      expect(text).toBe(pieces.join(''));
      expect([tokens.length, logprobs.length]).toEqual([pieces.length, pieces.length]);
      expect(finishReason).toBe(tokens.at(-1) === 1 ? 'stop' : 'length');
      expect(logprobs.every((logprob: number) => logprob < 0)).toBe(true);
    }
  });

  test('writes the text to standard output and the speed to standard error', async () => {
    const greedy = ['--temperature', '0', '--max-new-tokens', '4'];
    const file = join(folder, 'prompt.txt');
    writeFileSync(file, 'the cat\n');
    const plain = await runCli('generate', '--model', model, '--prompt', 'the cat', ...greedy);
    const json = await generate('--prompt-file', file, ...greedy, '--json');
    const { text, promptTokens } = JSON.parse(json.stdout);
    expect(promptTokens).toEqual([3, 5]);
    expect(plain.stdout).toBe(`${text}\n`);
    expect(plain.stderr).toMatch(/^4 tokens, [\d.]+ tokens\/s\n$/);
  });

  test('--chat formats the prompt with the chat template', async () => {
    const { stdout } = await generate('--prompt', 'the cat', '--chat', '--json');
    // the cat and
    expect(JSON.parse(stdout).promptTokens).toEqual([3, 5, 9]);
  });

  test('--adapter changes the output', async () => {
    const base = await loadBase(model, await readConfig(model));
    const fresh = LoraAdapter.create(defaultLoraConfig, base.modules());
    for (const [name, { data }] of fresh.weights) if (name.includes('lora_B')) data.fill(0.5);
    const adapter = join(folder, 'adapter');
    await writeAdapter(adapter, fresh);
    const args = ['--prompt', 'the cat', '--max-new-tokens', '1', '--json'];
    const results = [await generate(...args), await generate(...args, '--adapter', adapter)];
    const [without, adapted] = results.map(({ stdout }) => JSON.parse(stdout).logprobs[0]);
    expect(Math.abs(without - adapted)).toBeGreaterThan(0.01);
    const nowhere = await generate(...args, '--adapter', folder);
    expect(nowhere).toEqual({
      status: 2,
      stdout: '',
      stderr: `Cannot use the adapter ${folder}: it must be a run or an adapter, got no run.json, adapter_config.json or config.json in it\n`,
    });
  });

  test('Ctrl-C stops with exit code 130, without a stack', async () => {
    const args = ['--prompt', 'the cat', '--temperature', '0', '--max-new-tokens', '90000'];
    const child = startCli('generate', '--model', model, ...args);
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { status, stderr } = await endOf(child);
    expect(status).toBe(130);
    expect(stderr).toMatch(/^\d+ tokens?(, [\d.]+ tokens\/s)?\n$/);
  });
});
