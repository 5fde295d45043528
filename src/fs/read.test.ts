import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { parseJsonObject } from './parse-json.ts';
import { pathExists, readTextIfExists, splitLines, statIfExists } from './read.ts';

describe('reading a path that may be missing', () => {
  it('returns undefined if the file or one of its folders does not exist', async () => {
    const folder = makeTempFolder();
    const file = join(folder, 'a.txt');
    expect(await statIfExists(file)).toBeUndefined();
    writeFileSync(file, 'abc');
    expect((await statIfExists(file))?.size).toBe(3);
    expect(await readTextIfExists(file)).toBe('abc');
    expect(await readTextIfExists(join(file, 'b.txt'))).toBeUndefined();
    // No file can have this name.
    expect(await statIfExists(join(folder, 'a'.repeat(300)))).toBeUndefined();
    expect([await pathExists(file), await pathExists(join(file, 'b.txt'))]).toEqual([true, false]);
  });

  it('throws other errors', async () => {
    await expect(readTextIfExists(makeTempFolder())).rejects.toThrow(
      'it must be a regular file, got a folder',
    );
  });
});

describe('splitLines()', () => {
  async function split(...chunks: string[]) {
    const stream = (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })();
    const lines: [text: string, isComplete: boolean][] = [];
    for await (const { bytes, isComplete } of splitLines(stream)) {
      lines.push([bytes.toString(), isComplete]);
    }
    return lines;
  }

  it('joins a line that spans chunks and marks a last line without a line feed', async () => {
    expect(await split('a', 'b\n\nc', 'd', '\u2028e')).toEqual([
      ['ab', true],
      ['', true],
      ['cd\u2028e', false],
    ]);
  });

  it('yields nothing after a final line feed', async () => {
    expect(await split('a\n', '')).toEqual([['a', true]]);
  });
});

describe('parseJsonObject()', () => {
  it('names the file when the text is not a JSON object', () => {
    expect(parseJsonObject('{"a":1}', 'a.json')).toEqual({ a: 1 });
    expect(() => parseJsonObject('{', 'a.json')).toThrow('Cannot read a.json: it must be JSON');
    expect(() => parseJsonObject('[]', 'a.json')).toThrow('it must be an object, got an array');
    expect(() => parseJsonObject('null', 'a.json')).toThrow('it must be an object, got null');
  });
});
