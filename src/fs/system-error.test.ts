import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { describeSystemError, explainSystemError } from './system-error.ts';

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

const isRoot = process.getuid?.() === 0;

test.skipIf(process.platform === 'win32')(
  'describeSystemError() and explainSystemError() explain a missing permission',
  () => {
    const folder = makeTempFolder();
    chmodSync(folder, 0o555);
    const source = new URL('./system-error.ts', import.meta.url).href;
    const code = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      import { describeSystemError, explainSystemError } from '${source}';
      try { mkdirSync('${folder}/a'); } catch (error) { console.log(describeSystemError(error)); }
      try { writeFileSync('${folder}/b', 'x'); } catch (error) {
        console.log(explainSystemError(error, { action: 'save b', next: 'try again' }).message);
      }`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', code],
      // Permissions do not apply to root.
      { encoding: 'utf8', ...(isRoot && { uid: 65_534 }) },
    );
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual([
      `Cannot create ${folder}/a: permission is missing; grant it or choose another path`,
      `Cannot save b: permission to write is missing (EACCES: permission denied, open '${folder}/b'); grant it and try again`,
      '',
    ]);
  },
);

test.skipIf(process.platform !== 'linux')(
  'describeSystemError() and explainSystemError() explain a full disk',
  () => {
    const error = errorOf(() => writeFileSync('/dev/full', 'x'));
    expect(describeSystemError(error)).toBe('Cannot write a file: the disk is full; free space');
    expect(explainSystemError(error, { action: 'save a', next: 'try again' })).toMatchObject({
      message:
        'Cannot save a: the disk is full (ENOSPC: no space left on device, write); free space and try again',
      summary: 'Cannot save a: the disk is full; free space and try again',
      isDiskFull: true,
    });
  },
);

test('describeSystemError() leaves other errors', () => {
  expect(describeSystemError(new Error('Cannot save: the disk is full'))).toBeUndefined();
  expect(describeSystemError('text')).toBeUndefined();
});
