import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { appendJsonLines } from './jsonl.ts';
import { JsonlTail } from './jsonl-tail.ts';
import { readOwnText, readOwnTextSync } from './own-file.ts';

/** A folder with one log, and what people may put in its place. */
function makeFolder() {
  const folder = makeTempFolder();
  const inside = join(folder, 'run');
  mkdirSync(inside);
  writeFileSync(join(folder, 'secret.jsonl'), '{"step":1}\n');
  return { secret: join(folder, 'secret.jsonl'), log: join(inside, 'log.jsonl'), inside };
}

/** Everything that reads a log. */
async function readAll(path: string): Promise<unknown[]> {
  const tail = new JsonlTail(path, { add: () => true, clear: () => {} });
  const readings = [
    readOwnText(path),
    tail.update(),
    new Promise((resolve) => resolve(readOwnTextSync(path))),
  ];
  const results = await Promise.allSettled(readings);
  return results.map((result) =>
    result.status === 'rejected' ? (result.reason as Error).message : result.value,
  );
}

describe.skipIf(process.platform === 'win32')('reading a file that this package wrote', () => {
  test.each([
    ['a named pipe', (path: string) => spawnSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('rejects %s', async (kind, make) => {
    const { log } = makeFolder();
    make(log);
    const sentence = `Cannot read ${log}: it must be a regular file, got ${kind}; move it away`;
    expect(await readAll(log)).toEqual([sentence, sentence, sentence]);
  });

  test('rejects a link that leaves its folder and follows one that does not', async () => {
    const { log, inside, secret } = makeFolder();
    symlinkSync('../secret.jsonl', log);
    const sentence = `Cannot read ${log}: it must be in its folder, got a link to a file elsewhere; replace the link with a copy of the file`;
    expect(await readAll(log)).toEqual([sentence, sentence, sentence]);
    writeFileSync(join(inside, 'moved.jsonl'), '{"step":2}\n');
    const other = join(inside, 'samples.jsonl');
    symlinkSync('moved.jsonl', other);
    expect(await readAll(other)).toEqual(['{"step":2}\n', 'grown', '{"step":2}\n']);
    // The folder itself may be a link.
    symlinkSync(inside, `${inside}-link`);
    expect(await readOwnText(join(`${inside}-link`, 'moved.jsonl'))).toBe('{"step":2}\n');
    expect(await readOwnText(secret)).toBe('{"step":1}\n');
  });

  test('finds no file if it or its folder is missing', async () => {
    const { inside } = makeFolder();
    for (const path of [join(inside, 'none'), join(inside, 'none', 'log.jsonl')]) {
      expect(await readAll(path)).toEqual([undefined, 'same', undefined]);
    }
  });

  test('appendJsonLines() rejects a named pipe, which would lose the lines', () => {
    const { log } = makeFolder();
    spawnSync('mkfifo', [log]);
    expect(() => appendJsonLines(log, [{ step: 1 }])).toThrow(
      `Cannot write ${log}: it must be a regular file, got a named pipe; move it away`,
    );
  });
});
