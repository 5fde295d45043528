import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';
import { completionRows, pairRows, writeRows } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const configOf = (run: string) => JSON.parse(readFileSync(at(`${run}/config.json`), 'utf8'));

/** Runs a command that must succeed. */
async function run(...args: string[]) {
  const result = await runInProcess(...args);
  expect(result.stderr).not.toContain('Cannot');
  expect(result.status).toBe(0);
  return result;
}

const train = (output: string, ...flags: string[]) =>
  run(
    ...['train', '--model', at('model'), '--prompts', at('prompts.jsonl')],
    ...['--reward', at('reward.ts'), '--output', at(output), '--max-steps', '2'],
    ...['--max-new-tokens', '4', '--learning-rate', '1e-2', ...flags],
  );

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeRows(folder, 'texts.jsonl', completionRows());
  writeRows(folder, 'pairs.jsonl', pairRows());
});

describe('--base-precision int8', () => {
  test('trains over a base in bytes; its adapter is evaluated and merged over the original weights', async () => {
    // Without validation the last weights are saved.
    await train('int8', '--base-precision', 'int8', '--validation-fraction', '0');
    expect(configOf('int8')).toMatchObject({ basePrecision: 'int8', rolloutPrecision: 'int8' });
    const evaluate = async (...flags: string[]) => {
      const prompts = ['--prompts', at('prompts.jsonl')];
      const adapter = ['--adapter', at('int8')];
      const { stdout } = await run('evaluate', ...adapter, ...prompts, '--json', ...flags);
      return JSON.parse(stdout).policy.kl as number;
    };
    const [bytes, original] = [await evaluate(), await evaluate('--base-precision', 'f32')];
    expect(original).toBeGreaterThan(0);
    expect(Math.abs(bytes / original - 1)).toBeLessThan(0.2);
    await run('merge', at('int8'), '--out', at('merged'));
    await run('generate', '--model', at('merged'), '--prompt', 'cat', '--max-new-tokens', '3');
  });

  test('works for sft, reward and generate', async () => {
    const shared = ['--model', at('model'), '--max-steps', '2', '--base-precision', 'int8'];
    await run('sft', ...shared, '--data', at('texts.jsonl'), '--output', at('sft'));
    await run('reward', ...shared, '--data', at('pairs.jsonl'), '--output', at('judge'));
    expect(configOf('sft').basePrecision).toBe('int8');
    expect(configOf('judge').basePrecision).toBe('int8');
    const prompt = ['--prompt', 'cat', '--max-new-tokens', '3'];
    await run('generate', '--adapter', at('sft'), '--base-precision', 'int8', ...prompt);
  });

  test('is rejected if all weights are trained', async () => {
    const { status, stderr } = await runInProcess(
      ...['sft', '--model', at('model'), '--data', at('texts.jsonl'), '--output', at('full')],
      ...['--full-parameters', '--base-precision', 'int8'],
    );
    expect(status).toBe(2);
    expect(stderr).toContain(
      '--base-precision must be f32 with --full-parameters, because the weights themselves are trained, got int8',
    );
  });
});

test('--base-precision auto is printed, and the run keeps what was chosen', async () => {
  vi.stubEnv('XDG_CACHE_HOME', makeTempFolder());
  const { stderr } = await train('auto', '--base-precision', 'auto');
  vi.unstubAllEnvs();
  const [, chosen] = /Base precision (f32|int8): exact products with 8-bit weights/.exec(stderr)!;
  expect(configOf('auto').basePrecision).toBe(chosen);
});
