import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { hashFile, readTextIfExists } from './read.ts';
import { readRegularText } from './regular-file.ts';

describe.skipIf(process.platform === 'win32')('a file of others', () => {
  test.each([
    ['a named pipe', (path: string) => void spawnSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('is rejected if it is %s, instead of read forever', async (kind, make) => {
    const path = join(makeTempFolder(), 'config.json');
    make(path);
    const problem = `it must be a regular file, got ${kind}; move it away`;
    for (const read of [readRegularText, readTextIfExists, hashFile]) {
      await expect(read(path)).rejects.toThrow(`Cannot read ${path}: ${problem}`);
    }
  });

  test('is read through a link, as in the cache of the hub', async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, 'blob'), '{}');
    symlinkSync('blob', join(folder, 'config.json'));
    expect(await readRegularText(join(folder, 'config.json'))).toBe('{}');
  });

  test('is rejected if it does not fit into memory', async () => {
    const path = join(makeTempFolder(), 'huge.json');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 40);
    await expect(readRegularText(path)).rejects.toThrow(
      'it must have at most 256 MiB, got 1099511627776 bytes',
    );
  });
});
