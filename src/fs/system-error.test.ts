import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { describeSystemError } from './system-error.ts';

function errorOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

test('describeSystemError() says what failed and what to do', () => {
  const folder = makeTempFolder();
  const file = join(folder, 'a');
  writeFileSync(file, '');
  const describe = (run: () => unknown) => describeSystemError(errorOf(run));
  expect(describe(() => readFileSync(join(folder, 'b')))).toBe(
    `Cannot open ${folder}/b: it must exist, got no such file or folder; check the path`,
  );
  expect(describe(() => mkdirSync(file))).toBe(
    `Cannot create ${file}: it must not exist, got a file or folder; choose another path`,
  );
  expect(describe(() => readdirSync(file))).toBe(
    `Cannot list ${file}: every part of the path but the last must be a folder, got a file; check the path`,
  );
  expect(describe(() => readFileSync(folder))).toMatch(/it must be a file, got a folder/);
});

test('describeSystemError() leaves other errors', () => {
  expect(describeSystemError(new Error('Cannot save: the disk is full'))).toBeUndefined();
  expect(describeSystemError('text')).toBeUndefined();
});
