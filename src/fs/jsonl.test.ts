import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillDisk, mountDisk } from '../../test/helpers/mount-disk.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { appendJsonLines } from './jsonl.ts';

const module = new URL('./jsonl.ts', import.meta.url).href;

/** A process that appends 60 lines, short and long ones. */
function startWriter(path: string, name: string): Promise<number | null> {
  const code = `import { appendJsonLines } from ${JSON.stringify(module)};
    for (let i = 0; i < 60; i++) {
      appendJsonLines(${JSON.stringify(path)}, [{ name: ${JSON.stringify(name)}, i, text: 'é'.repeat(130 * i) }]);
    }`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => child.on('close', resolve));
}

describe('appendJsonLines()', () => {
  it('keeps every line intact when two processes write at the same time', {
    timeout: 60_000,
  }, async () => {
    const path = join(makeTempFolder(), 'answers.jsonl');
    const codes = await Promise.all([startWriter(path, 'a'), startWriter(path, 'b')]);
    expect(codes).toEqual([0, 0]);
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const rows = lines.map((line) => JSON.parse(line) as { name: string; i: number; text: string });
    expect(rows.every(({ i, text }) => text === 'é'.repeat(130 * i))).toBe(true);
    for (const name of ['a', 'b']) {
      const own = rows.filter((row) => row.name === name).map(({ i }) => i);
      expect(own).toEqual(Array.from({ length: 60 }, (_, i) => i));
    }
  });

  it('ends a partial line left by a crash before it appends', () => {
    const path = join(makeTempFolder(), 'answers.jsonl');
    writeFileSync(path, '{"a":1}\n{"a":');
    appendJsonLines(path, [{ a: 2 }, { a: 3 }]);
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"a":\n{"a":2}\n{"a":3}\n');
  });

  it('reports a full disk if a line fits only in part', (context) => {
    const disk = join(makeTempFolder(), 'disk');
    if (!mountDisk(disk, '64k')) context.skip('mounting a disk needs root on Linux');
    const path = join(disk, 'answers.jsonl');
    appendJsonLines(path, [{ a: 1 }]);
    const free = fillDisk(disk);
    // The file's first page of 4096 bytes has room for a part of the line.
    expect(() => appendJsonLines(path, [{ a: 'x'.repeat(6000) }])).toThrow(
      expect.objectContaining({
        code: 'ENOSPC',
        message: `ENOSPC: wrote 4088 of 6009 bytes, write '${path}'`,
      }),
    );
    free();
    appendJsonLines(path, [{ a: 2 }]);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect([lines[0], lines[2]]).toEqual(['{"a":1}', '{"a":2}']);
  });
});
