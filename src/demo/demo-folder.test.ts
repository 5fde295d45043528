import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { createDemoFolder, openDemoFolder } from './demo-folder.ts';

test('openDemoFolder() returns the settings that the demo started with', async () => {
  const path = join(makeTempFolder(), 'new', 'demo');
  const created = await createDemoFolder(path, { seed: 3, short: true });
  expect(created).toEqual({ path, seed: 3, short: true, klCoef: 0.1 });
  expect(await openDemoFolder(path)).toEqual(created);
});

test('createDemoFolder() accepts an empty folder', async () => {
  const path = makeTempFolder();
  await createDemoFolder(path);
  expect(existsSync(join(path, 'demo.json'))).toBe(true);
});

test('createDemoFolder() rejects folders with files and says what to do', async () => {
  const demo = makeTempFolder();
  await createDemoFolder(demo);
  await expect(createDemoFolder(demo)).rejects.toThrow(
    `Cannot start the demo in ${demo}: the folder must be new or empty, got one of an earlier demo; continue that one with --resume ${demo}, or choose another --output`,
  );
  const other = makeTempFolder();
  mkdirSync(join(other, 'mine'));
  await expect(createDemoFolder(other)).rejects.toThrow(
    `Cannot start the demo in ${other}: the folder must be new or empty, got one with files; choose another --output`,
  );
  const file = join(other, 'file');
  writeFileSync(file, '');
  await expect(createDemoFolder(file)).rejects.toThrow('it must be a folder, got a file');
});

test('openDemoFolder() rejects folders without a demo', async () => {
  const folder = makeTempFolder();
  await expect(openDemoFolder(folder)).rejects.toThrow(
    `Cannot resume the demo in ${folder}: the folder must contain demo.json, got none; check the path, or start a new demo without --resume`,
  );
  writeFileSync(join(folder, 'demo.json'), '{"seed":"x"}');
  await expect(openDemoFolder(folder)).rejects.toThrow(
    /^Cannot read .*demo.json: it must hold the settings of a demo \(seed: /,
  );
});
