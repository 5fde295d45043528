import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { endOf } from '../../test/helpers/run-cli.ts';
import { hasTestFiles, saveTestCheckpoints } from '../../test/helpers/run-test-files.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { CheckpointStore } from './checkpoint-store.ts';

const script = fileURLToPath(new URL('../../test/helpers/run-store-child.ts', import.meta.url));

interface Child {
  readonly step: number;
  /** A file-system function and the number of the call before which the process is killed. */
  readonly killAt: string;
  /** File size limit in KiB. */
  readonly limit?: number;
}

/** Saves a checkpoint in a new process. */
async function saveInChild(folder: string, { step, killAt, limit }: Child) {
  const args = ['--import', 'tsx', script, folder, `${step}`, ...killAt.split(' ')];
  const child =
    limit === undefined
      ? spawn(process.execPath, args)
      : spawn('bash', ['-c', `ulimit -f ${limit}; exec "$0" "$@"`, process.execPath, ...args]);
  const { stderr } = await endOf(child);
  return { stderr, signal: child.signalCode };
}

async function makeStore(folder: string): Promise<CheckpointStore> {
  const store = new CheckpointStore(folder, { keep: 1 });
  await saveTestCheckpoints(store, '10*', '20');
  return store;
}

/** The steps of the latest and the best checkpoint, after checking that both are intact. */
async function readSteps(folder: string): Promise<readonly [number, number]> {
  const store = new CheckpointStore(folder, { keep: 1 });
  const [latest, best] = [(await store.latest())!, (await store.best())!];
  for (const { folder, step, warnings } of [latest, best]) {
    expect(warnings).toEqual([]);
    expect(await hasTestFiles(folder, step)).toBe(true);
  }
  return [latest.step, best.step];
}

describe('A process that is killed while it saves', () => {
  test.each([
    ['between two files', { step: 30, killAt: 'writeFile 2' }, [20, 10]],
    ['before the folder is put in place', { step: 30, killAt: 'rename 1' }, [20, 10]],
    ['before best.json is put in place', { step: 30, killAt: 'rename 2' }, [30, 30]],
    ['during a deletion', { step: 30, killAt: 'rm 2' }, [30, 30]],
    ['during a replacement', { step: 20, killAt: 'rename 2' }, [20, 10]],
    ['before what it replaced is deleted', { step: 20, killAt: 'rename 3' }, [20, 20]],
  ] as const)('%s leaves intact checkpoints', async (_, child, steps) => {
    const folder = join(makeTempFolder(), 'c');
    await makeStore(folder);
    expect(await saveInChild(folder, child)).toEqual({ stderr: '', signal: 'SIGKILL' });
    expect(await readSteps(folder)).toEqual(steps);
    const store = new CheckpointStore(folder, { keep: 1 });
    await saveTestCheckpoints(store, '40');
    expect(await readSteps(folder)).toEqual([40, steps[1]]);
    const left = [...new Set([steps[1], 40])].map((step) => `checkpoint-0000${step}`);
    expect((await readdir(folder)).toSorted()).toEqual(['best.json', ...left]);
  });
});

describe('A save that fails', { timeout: 60_000 }, () => {
  test.skipIf(process.platform === 'win32')(
    'at the file size limit leaves the old checkpoints',
    async () => {
      const folder = join(makeTempFolder(), 'c');
      await makeStore(folder);
      const { stderr } = await saveInChild(folder, { step: 30, killAt: 'never', limit: 64 });
      expect(stderr).toContain(
        `Cannot save checkpoint 30 to ${folder}: the file exceeds the size limit of this system (EFBIG`,
      );
      expect(stderr).toContain('raise the limit (ulimit -f) and resume from step 20');
      expect(await readSteps(folder)).toEqual([20, 10]);
      expect(await readdir(folder)).toHaveLength(3);
    },
  );
});
