import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { resolveRunConfig } from '../config/run-config.ts';
import { readSecrets, withoutConfigSecrets, writeSecrets } from './run-secrets.ts';

const plain = {
  prompts: 'p.jsonl',
  systemPrompt: 'See https://me:pass@host/?q=1',
  reward: ['flesch', 'http://host/score'],
};
const secret = {
  ...plain,
  reward: ['flesch', 'http://host/score?key=1'],
  rollouts: 'vllm:http://me:pass@host:8000/v1',
  queue: 'redis://me:pass@host:6379/0',
};

test('withoutConfigSecrets() changes only rewards, rollouts and the queue', () => {
  expect(withoutConfigSecrets(resolveRunConfig(secret))).toEqual(
    resolveRunConfig({
      ...plain,
      rollouts: 'vllm:http://host:8000/v1',
      queue: 'redis://me@host:6379/0',
    }),
  );
  const config = resolveRunConfig({ ...plain, queue: 'none' });
  expect(withoutConfigSecrets(config)).toEqual(config);
});

test('secrets are saved for the owner, without the password of the queue, and removed when there are none', async () => {
  const run = makeTempFolder();
  expect(await readSecrets(run)).toEqual({});
  await writeSecrets(run, resolveRunConfig(secret));
  const { reward, rollouts } = secret;
  expect(await readSecrets(run)).toEqual({ reward, rollouts });
  const file = join(run, 'secrets.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await writeSecrets(run, resolveRunConfig(plain));
  expect(existsSync(file)).toBe(false);
});
