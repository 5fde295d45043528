import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { runInProcess } from '../helpers/run-cli.ts';

vi.setConfig({ testTimeout: 30_000 });

const model = fileURLToPath(new URL('../../../shared/assets/stories15M-hf', import.meta.url));

test('generate continues a story', async ({ skip }) => {
  if (!existsSync(model)) skip(`${model} is missing`);
  const args = ['--model', model, '--prompt', 'Once upon a time', '--temperature', '0'];
  const { status, stdout } = await runInProcess('generate', ...args, '--stop', ' She');
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: ', there was a little girl named Lily.\n',
  });
});
