import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000 });

describe.skipIf(process.platform === 'win32')('proximal train', () => {
  test.each([
    'prompts.jsonl',
    'model/config.json',
    'model/tokenizer.json',
    'model/tokenizer_config.json',
  ])('does not wait for a named pipe: %s', async (name) => {
    const folder = await makeTrainFolder();
    rmSync(join(folder, name));
    spawnSync('mkfifo', [join(folder, name)]);
    const output = join(folder, 'run');
    const { status, stderr } = await runInProcess(
      ...['train', '--config', join(folder, 'train.yaml'), '--output', output],
    );
    expect(status).toBe(1);
    expect(stderr).toContain(
      `${join(folder, name)}: it must be a regular file, got a named pipe; move it away\n`,
    );
  });
});
