import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { saveTestCheckpoints } from '../../test/helpers/run-test-files.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { CheckpointStore } from './checkpoint-store.ts';

const makeStore = (keep: number) => new CheckpointStore(join(makeTempFolder(), 'c'), { keep });

describe('CheckpointStore', () => {
  test('save() writes a folder with a manifest, and latest() finds it', async () => {
    const store = makeStore(2);
    expect(await store.latest()).toBeUndefined();
    expect(await store.best()).toBeUndefined();
    const folder = await store.save(123, (to) => writeFile(join(to, 'a.txt'), 'abc'), {
      isBest: false,
    });
    expect(folder).toBe(join(store.folder, 'checkpoint-000123'));
    expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toEqual({
      format: 1,
      step: 123,
      isBest: false,
      files: {
        'a.txt': {
          size: 3,
          sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
        },
      },
    });
    expect(await store.latest()).toEqual({ step: 123, folder, warnings: [] });
    expect(await store.best()).toBeUndefined();
  });

  test('save() keeps the newest and the best, and best.json names the best', async () => {
    const store = makeStore(2);
    await saveTestCheckpoints(store, '10*', '20', '30', '40');
    expect((await readdir(store.folder)).toSorted()).toEqual([
      'best.json',
      'checkpoint-000010',
      'checkpoint-000030',
      'checkpoint-000040',
    ]);
    expect(JSON.parse(await readFile(join(store.folder, 'best.json'), 'utf8'))).toEqual({
      step: 10,
      folder: 'checkpoint-000010',
    });
    await saveTestCheckpoints(store, '50*');
    expect((await store.best())?.step).toBe(50);
    expect(await readdir(store.folder)).not.toContain('checkpoint-000010');
  });

  test('prune() deletes an old checkpoint that a power cut brought back', async () => {
    const store = makeStore(1);
    await saveTestCheckpoints(store, '10', '20*');
    await cp(join(store.folder, 'checkpoint-000020'), join(store.folder, 'kept'), {
      recursive: true,
    });
    await saveTestCheckpoints(store, '30*');
    await rename(join(store.folder, 'kept'), join(store.folder, 'checkpoint-000020'));
    await store.prune(30);
    expect((await readdir(store.folder)).toSorted()).toEqual(['best.json', 'checkpoint-000030']);
  });

  test('save() keeps the newest and the best for any sequence of saves', async () => {
    const saves = fc.array(fc.record({ step: fc.nat(9), isBest: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
    });
    const root = makeTempFolder();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(saves, fc.integer({ min: 1, max: 3 }), async (course, keep) => {
        const store = new CheckpointStore(join(root, `${++run}`), { keep });
        let held: { step: number; isBest: boolean }[] = [];
        for (const { step, isBest } of course) {
          await store.save(step, (to) => writeFile(join(to, 'a'), String(step)), { isBest });
          held = [...held.filter((it) => it.step < step), { step, isBest }];
          const best = held.findLast((it) => it.isBest)?.step;
          held = held.filter((it, i) => i >= held.length - keep || it.step === best);
          const names = held.map((it) => `checkpoint-00000${it.step}`);
          const pointer = best === undefined ? [] : ['best.json'];
          expect((await readdir(store.folder)).toSorted()).toEqual([...pointer, ...names]);
          expect((await store.latest())?.step).toBe(step);
          expect((await store.best())?.step).toBe(best);
        }
      }),
      { numRuns: 8 },
    );
  });

  test('save() replaces a checkpoint of the same step', async () => {
    const store = makeStore(2);
    await saveTestCheckpoints(store, '10', '20*');
    await store.save(20, (to) => writeFile(join(to, 'new'), 'x'), { isBest: false });
    expect((await readdir(join(store.folder, 'checkpoint-000020'))).toSorted()).toEqual([
      'manifest.json',
      'new',
    ]);
    expect(await store.best()).toBeUndefined();
  });

  test('save() removes leftovers of ended processes and nothing else', async () => {
    const store = makeStore(1);
    await saveTestCheckpoints(store, '10');
    await mkdir(join(store.folder, 'checkpoint-000020.1-2.tmp/policy'), { recursive: true });
    await writeFile(join(store.folder, 'best.json.1-2.tmp'), '');
    await writeFile(join(store.folder, 'notes.tmp'), '');
    await saveTestCheckpoints(store, '20');
    expect((await readdir(store.folder)).toSorted()).toEqual(['checkpoint-000020', 'notes.tmp']);
  });

  test.each([0, Number.NaN])('rejects keep: %d', (keep) => {
    expect(() => new CheckpointStore('c', { keep })).toThrow(
      `Cannot keep checkpoints in c: keep must be at least 1, got ${keep}`,
    );
  });
});

describe('A save that fails', { timeout: 60_000 }, () => {
  const systemError = (code: string) =>
    Object.assign(new Error(`${code}: no, write`), { code, syscall: 'write' });

  test('on a full disk leaves only the old checkpoints', async () => {
    const folder = join(makeTempFolder(), 'c');
    const store = new CheckpointStore(folder, { keep: 1 });
    await saveTestCheckpoints(store, '10*', '20');
    const save = store.save(
      30,
      async (to) => {
        await writeFile(join(to, 'half'), 'x');
        throw new Error('Cannot write weights', { cause: systemError('ENOSPC') });
      },
      { isBest: true },
    );
    await expect(save).rejects.toThrow(
      `Cannot save checkpoint 30 to ${folder}: the disk is full (ENOSPC: no, write); free space and resume from step 20`,
    );
    expect([(await store.latest())?.step, (await store.best())?.step]).toEqual([20, 10]);
    expect(await readdir(folder)).toHaveLength(3);
  });

  test('before the first checkpoint asks to start again', async () => {
    const folder = join(makeTempFolder(), 'c');
    const store = new CheckpointStore(folder, { keep: 1 });
    await expect(
      store.save(10, () => Promise.reject(systemError('EDQUOT')), { isBest: true }),
    ).rejects.toThrow(
      `Cannot save checkpoint 10 to ${folder}: the disk quota is used up (EDQUOT: no, write); free space and start again`,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('because of a bug keeps the original error', async () => {
    const folder = join(makeTempFolder(), 'c');
    const store = new CheckpointStore(folder, { keep: 1 });
    await saveTestCheckpoints(store, '10*', '20');
    const bug = new TypeError('Internal: no weights');
    await expect(store.save(30, () => Promise.reject(bug), { isBest: true })).rejects.toBe(bug);
    expect(await readdir(folder)).toHaveLength(3);
  });
});
