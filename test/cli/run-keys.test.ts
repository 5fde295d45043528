import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { cliCommand } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** The program of util-linux that runs others on a terminal. */
const terminal = 'script';
const hasTerminal = process.platform === 'linux' && spawnSync(terminal, ['--version']).status === 0;

let folder: string;

beforeAll(async () => {
  folder = await makeTrainFolder();
});

/** Runs a shell command on a terminal of its own, whose output can be waited for. */
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

  test('pauses and goes on with p, saves with s, stops with q, and leaves the terminal as it was', async () => {
    const { press, until, status, shown } = startOnTerminal(
      `${start('keys')}; echo "ended $?"; stty -a`,
    );
    await until(/Keys: p pauses and goes on, s saves, q stops after this step/);
    press('p');
    await until(/Paused before step \d+ until it is told to resume: proximal control \S+ resume/);
    press('xs');
    await until(/Saving after this step[\s\S]*saved \S+checkpoint-0/);
    press('p');
    await until(/Going on with step/);
    press('q');
    expect(await status).toBe(0);
    expect(shown()).toMatch(
      /The run was stopped on request .*\s+proximal train --resume \S+\s+ended 130/,
    );
    expect(shown()).toMatch(/[^-]isig[^-]*[^-]icanon/);
    expect(shown()).not.toContain('The run failed');
  });

  test('still ends by Ctrl-C, also while it is paused', async () => {
    const { press, until, status, shown } = startOnTerminal(start('interrupted'));
    await until(/Keys: /);
    press('p');
    await until(/Paused before step/);
    press('\x03');
    expect(await status).toBe(130);
    expect(shown()).toContain('Ending in order; Ctrl-C again ends at once');
  });

  test('reads no keys in the background, where it would be stopped', async () => {
    const run = `${start('background')} --max-steps 2`;
    const { status, shown } = startOnTerminal(`bash -c 'set -m; ${run} & wait $!'`);
    expect(await status).toBe(0);
    expect(shown()).not.toContain('Keys: ');
    expect(shown()).toContain('All steps are done');
  });
});
