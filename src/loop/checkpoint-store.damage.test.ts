import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasTestFiles, saveTestCheckpoints } from '../../test/helpers/run-test-files.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { CheckpointStore } from './checkpoint-store.ts';

const makeStore = (keep: number) => new CheckpointStore(join(makeTempFolder(), 'c'), { keep });

async function flipByte(path: string, [at, mask]: readonly [number, number]): Promise<void> {
  const bytes = await readFile(path);
  bytes[at % bytes.length]! ^= mask;
  await writeFile(path, bytes);
}

/** A manifest that lists one empty file. */
const listing = (name: string) =>
  JSON.stringify({
    ...{ format: 1, step: 20, isBest: true },
    files: { [name]: { size: 0, sha256: '0'.repeat(64) } },
  });

describe('A damaged checkpoint', () => {
  const cases: readonly (readonly [string, (folder: string) => Promise<void>, string])[] = [
    [
      'a truncated file',
      (it) => truncate(join(it, 'policy/adapter.bin'), 99_999),
      'policy/adapter.bin must have 100000 bytes, got 99999',
    ],
    [
      'a changed byte',
      (it) => flipByte(join(it, 'policy/adapter.bin'), [5, 1]),
      'policy/adapter.bin must have the SHA-256 in manifest.json, got another: its bytes have changed',
    ],
    ['a missing file', (it) => rm(join(it, 'trainer.json')), 'trainer.json is missing'],
    ['a missing manifest', (it) => rm(join(it, 'manifest.json')), 'manifest.json is missing'],
    [
      'half a manifest',
      (it) => truncate(join(it, 'manifest.json'), 40),
      'manifest.json must be JSON (',
    ],
    [
      'a manifest of a later format',
      (it) => writeFile(join(it, 'manifest.json'), '{"format":2}'),
      'manifest.json must be in the format of this version (format: ',
    ],
    ...['a'.repeat(300), '../trainer.json', 'a\0'].map(
      (name) =>
        [
          `a manifest that lists ${JSON.stringify(name).slice(0, 20)}`,
          (it: string) => writeFile(join(it, 'manifest.json'), listing(name)),
          `manifest.json must list files of the checkpoint, got "${name.slice(0, 40)}"`,
        ] as const,
    ),
  ];

  test.each(cases)('with %s is skipped and named', async (_, damage, message) => {
    const store = makeStore(2);
    await saveTestCheckpoints(store, '10*', '20*');
    const newest = join(store.folder, 'checkpoint-000020');
    await damage(newest);
    for (const found of [await store.latest(), await store.best()]) {
      expect(found).toMatchObject({ step: 10, folder: join(store.folder, 'checkpoint-000010') });
      expect(found?.warnings).toHaveLength(1);
      expect(found?.warnings[0]).toContain(`Skipping ${newest}: ${message}`);
    }
  });

  test('with any changed byte is skipped or reads the same', async () => {
    const store = makeStore(2);
    await saveTestCheckpoints(store, '10', '20*');
    const folder = join(store.folder, 'checkpoint-000020');
    const files = ['policy/adapter.bin', 'trainer.json', 'manifest.json', 'manifest.json'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (file, at, mask) => {
          await flipByte(join(folder, file), [at, mask]);
          const found = await store.latest();
          if (file !== 'manifest.json') expect(found?.step).toBe(10);
          expect(found?.warnings).toHaveLength(found?.step === 10 ? 1 : 0);
          expect(await hasTestFiles(found!.folder, found!.step)).toBe(true);
          await flipByte(join(folder, file), [at, mask]);
          expect((await store.latest())?.step).toBe(20);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('is not kept as the best', async () => {
    const store = makeStore(1);
    await saveTestCheckpoints(store, '10*');
    await rm(join(store.folder, 'checkpoint-000010/trainer.json'));
    await saveTestCheckpoints(store, '20');
    expect(await readdir(store.folder)).toEqual(['checkpoint-000020']);
  });

  test('is an error if no other checkpoint is left', async () => {
    const store = makeStore(2);
    await saveTestCheckpoints(store, '10');
    await rm(join(store.folder, 'checkpoint-000010/trainer.json'));
    await expect(store.latest()).rejects.toThrow(
      `Cannot find the latest checkpoint in ${store.folder}: at least one must be intact, got none (Skipping ${store.folder}/checkpoint-000010: trainer.json is missing); start a new run`,
    );
  });
});
