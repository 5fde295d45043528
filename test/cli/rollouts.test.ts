import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { loadModel } from '../../src/models/index.ts';
import { startRolloutServer } from '../helpers/rollout-server.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

const train = (output: string, ...flags: string[]) =>
  runInProcess(
    ...['train', '--model', at('model'), '--prompts', at('prompts.jsonl')],
    ...['--reward', at('reward.ts'), '--output', at(output), '--max-steps', '2'],
    ...['--max-new-tokens', '4', '--batch-size', '4', ...flags],
  );

beforeAll(async () => {
  folder = await makeTrainFolder();
});

test('--rollouts trains with the responses of a server and leaves nothing on it', async () => {
  const model = await loadModel(at('model'));
  const server = await startRolloutServer(model, { maxLength: 40 });
  const shared = makeTempFolder();
  const rollouts = server.rollouts.replace('//', '//Ada:secret@');
  const flags = ['--rollouts', rollouts, '--rollout-folder', shared, '--temperature', '0.8'];
  const { status, stdout, stderr } = await train('server', ...flags);
  expect(stderr).not.toContain('Cannot');
  expect(status).toBe(0);
  expect(stdout + stderr).not.toContain('secret');
  // Two requests check the logprobs; then two steps of four prompts.
  expect(server.bodies('/inference/v1/generate')).toHaveLength(2 + 8);
  expect(server.bodies('/v1/load_lora_adapter')).toHaveLength(2);
  expect(server.adapters.size).toBe(0);
  expect(readdirSync(shared)).toEqual([]);
  await model.base.dispose();
});

test('--rollouts ends with one sentence if the server lacks a feature', async () => {
  const model = await loadModel(at('model'));
  const server = await startRolloutServer(model, { version: '0.9.1' });
  const { status, stderr } = await train('old', '--rollouts', server.rollouts);
  expect(status).not.toBe(0);
  expect(stderr).toContain(
    `Cannot generate with vLLM: ${server.url}/version must be version 0.32 or newer, got 0.9.1; upgrade vLLM`,
  );
  expect(stderr).not.toContain('    at ');
  await model.base.dispose();
});
