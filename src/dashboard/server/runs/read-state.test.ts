import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../../../test/helpers/runtime-temp-folder.ts';
import { JsonFile } from './read-state.ts';

test('JsonFile returns the same object until the file changes', async () => {
  const path = join(makeTempFolder(), 'run.json');
  const file = new JsonFile(path);
  expect(await file.read()).toBeUndefined();
  writeFileSync(path, '{"step":1}');
  const first = await file.read();
  expect(first).toEqual({ step: 1 });
  expect(await file.read()).toBe(first);
  writeFileSync(`${path}.tmp`, '{"step":2}');
  renameSync(`${path}.tmp`, path);
  expect(await file.read()).toEqual({ step: 2 });
  writeFileSync(path, '{"st');
  expect(await file.read()).toEqual({});
  rmSync(path);
  expect(await file.read()).toBeUndefined();
});
