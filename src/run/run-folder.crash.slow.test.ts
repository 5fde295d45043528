import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { endOf } from '../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { RunFolder, readRunConfig } from './run-folder.ts';
import { checkRunFolder } from './run-place.ts';

const script = fileURLToPath(new URL('../../test/helpers/run-folder-child.ts', import.meta.url));
const options = { config: { seed: 2 }, keepCheckpoints: 1 };

test('wherever a process is killed while it starts a run, the folder can take a run', async () => {
  const folder = makeTempFolder();
  let [kills, isKilled] = [0, true];
  while (isKilled) {
    const path = join(folder, `${kills}`);
    const child = spawn(process.execPath, ['--import', 'tsx', script, path, `${kills + 1}`]);
    expect(await endOf(child)).toMatchObject({ stderr: '' });
    isKilled = child.signalCode === 'SIGKILL';
    // Both a new run and the replacement of one that was killed.
    if (kills % 2 === 0)
      await endOf(spawn(process.execPath, ['--import', 'tsx', script, path, '9']));
    await checkRunFolder(path, {});
    const run = await RunFolder.create(path, options);
    expect(await readRunConfig(path)).toEqual({ seed: 2 });
    run.close();
    expect(readdirSync(path).toSorted()).toEqual(['checkpoints', 'config.json', 'run.json']);
    kills++;
  }
  expect(kills).toBeGreaterThan(8);
}, 240_000);
