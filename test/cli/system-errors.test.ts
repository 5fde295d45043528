import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { mountDisk } from '../helpers/mount-disk.ts';
import { cliCommand, endOf, runInProcess, startCliAs } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const train = (output: string) => ['train', '--config', at('train.yaml'), '--output', at(output)];

beforeAll(async () => {
  folder = await makeTrainFolder();
});

/** Permissions do not apply to root, so its tests run as the user nobody. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined;

test.skipIf(process.platform === 'win32')(
  'a folder without permission fails the run and its plan in the same sentence',
  async () => {
    mkdirSync(at('locked'));
    chmodSync(folder, 0o755);
    chmodSync(at('locked'), 0o555);
    const args = train('locked/run');
    const planned = await endOf(startCliAs(uid, ...args, '--dry-run'));
    expect(planned).toEqual({
      status: 1,
      stdout: '',
      stderr: `Cannot start a run in ${at('locked/run')}: permission to write is missing (EACCES: permission denied, access '${at('locked')}'); grant it and start it again, or choose another folder\n`,
    });
    expect(await endOf(startCliAs(uid, ...args))).toEqual(planned);
  },
);

test.skipIf(process.platform !== 'linux')('a full output is one sentence, not a stack', () => {
  const command = `PROXIMAL_DEBUG= ${cliCommand} --help > /dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  expect(stderr).toBe(
    'Cannot write the output: the disk is full (ENOSPC: no space left on device, write); free space and run the command again\n',
  );
  expect(status).toBe(1);
});

test('a full disk ends a run with a sentence that says how to continue', async (context) => {
  if (!mountDisk(at('disk'), '256k')) context.skip('mounting a disk needs root on Linux');
  const { status, stderr } = await runInProcess(...train('disk/run'));
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /\nCannot save checkpoint \d+ to .*disk\/run\/checkpoints: the disk is full \(ENOSPC: .*\); free space and (start again|resume from step \d+)\n$/,
  );
  expect(stderr).not.toContain('    at ');
  spawnSync('mount', ['-o', 'remount,size=16m', at('disk')]);
  const resumed = await runInProcess('train', '--resume', at('disk/run'));
  expect(resumed.status).toBe(0);
  expect(resumed.stdout).toMatch(/^All steps are done\. 6 steps in/);
});
