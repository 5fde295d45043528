import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { cliCommand } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** The program of util-linux that runs a command on a terminal. */
const terminal = 'script';
const hasTerminal = process.platform === 'linux' && spawnSync(terminal, ['--version']).status === 0;

let folder: string;

beforeAll(async () => {
  folder = await makeTrainFolder();
});

/** Runs a shell command on a new terminal. */
function startOnTerminal(command: string) {
  const child = spawn(terminal, ['-qec', command, '/dev/null'], {
    env: { ...process.env, PROXIMAL_DEBUG: '', HF_HUB_OFFLINE: '1' },
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const status = new Promise<number | null>((resolve) => child.on('close', resolve));
  const until = (pattern: RegExp) =>
    expect.poll(() => shown, { timeout: 60_000, interval: 20 }).toMatch(pattern);
  return {
    press: (keys: string) => void child.stdin.write(keys),
    until,
    status,
    shown: () => shown,
  };
}

describe.skipIf(!hasTerminal)('on a terminal, proximal train', () => {
  const start = (name: string) =>
    `${cliCommand} train --config ${join(folder, 'train.yaml')} --output ${join(folder, name)} --num-epochs 40 --save-interval 0 --validation-fraction 0`;

  test('pauses and continues with p, saves with s, stops with q and restores the terminal', async () => {
    const { press, until, status, shown } = startOnTerminal(
      `${start('keys')}; echo "ended $?"; stty -a`,
    );
    await until(/Keys: p pause or continue, s save, q stop after this step/);
    press('p');
    await until(/Paused before step \d+; to continue: npx proximal control \S+ resume/);
    press('xs');
    await until(/Saving after this step[\s\S]*saved \S+checkpoint-0/);
    press('p');
    await until(/Continuing with step/);
    press('q');
    expect(await status).toBe(0);
    expect(shown()).toMatch(
      /The run was stopped on request.*\s+npx proximal train --resume \S+\s+ended 130/,
    );
    expect(shown()).toMatch(/[^-]isig[^-]*[^-]icanon/);
    expect(shown()).not.toContain('The run failed');
  });

  test('still stops on Ctrl-C while it is paused', async () => {
    const { press, until, status, shown } = startOnTerminal(start('interrupted'));
    await until(/Keys: /);
    press('p');
    await until(/Paused before step/);
    press('\x03');
    expect(await status).toBe(130);
    expect(shown()).toContain('Stopping after saving; press Ctrl-C again to stop immediately');
  });

  test('reads no keys in the background, where the system would stop it', async () => {
    const run = `${start('background')} --max-steps 2`;
    const { status, shown } = startOnTerminal(`bash -c 'set -m; ${run} & wait $!'`);
    expect(await status).toBe(0);
    expect(shown()).not.toContain('Keys: ');
    expect(shown()).toContain('All steps are done');
  });
});
