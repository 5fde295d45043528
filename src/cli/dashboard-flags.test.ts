import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readToken } from './dashboard-flags.ts';

const variable = 'PROXIMAL_DASHBOARD_TOKEN';

function writeToken(text: string, mode = 0o600): string {
  const file = join(makeTempFolder(), 'token');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

test('readToken() prefers the file to the environment', async () => {
  vi.stubEnv(variable, 'of the environment');
  expect(await readToken(undefined)).toBe('of the environment');
  expect(await readToken(writeToken('of the file\n', 0o400))).toBe('of the file');
  vi.unstubAllEnvs();
});

test.skipIf(process.platform === 'win32').each([0o640, 0o604, 0o660, 0o755])(
  'readToken() rejects a file to which others have access (mode %o)',
  async (mode) => {
    const file = writeToken('a secret', mode);
    await expect(readToken(file)).rejects.toThrow(
      `Cannot use --token-file ${file}: only its owner may have access, got mode ${mode.toString(8)}; run "chmod 600 ${file}"`,
    );
  },
);

const commands = ['dashboard', 'train', 'sft', 'reward', 'demo'];

test.each(commands)('%s rejects --token, which other users could see', async (command) => {
  const { status, stdout, stderr } = await runInProcess(command, '--token', 'a secret');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    'Cannot use --token: other users of this machine could read it in the list of processes; write it to a file that only you can read and pass --token-file, or set PROXIMAL_DASHBOARD_TOKEN\n',
  );
});

test('train rejects --token-file without --dashboard', async () => {
  const { status, stderr } = await runInProcess('train', '--token-file', 'token');
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      'Cannot use --token-file: it protects a dashboard, got none; add --dashboard or leave it out\n',
  });
});
