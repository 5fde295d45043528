import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { countLogRows, JsonlWriter, truncateLog } from './log-files.ts';

describe('JsonlWriter', () => {
  test('append() writes lines in order and immediately, with null for NaN and infinities', () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    const writer = new JsonlWriter(path);
    writer.append({ step: 1, 'loss/value_avg': Number.NaN, 'val/ratio': -Infinity, lr: 0.1 });
    writer.append({ step: 2, text: 'é\n\u2028', none: undefined });
    expect(readFileSync(path, 'utf8')).toBe(
      '{"step":1,"loss/value_avg":null,"val/ratio":null,"lr":0.1}\n{"step":2,"text":"é\\n\u2028"}\n',
    );
    writer.close();
    const second = new JsonlWriter(path);
    second.append({ step: 3 });
    second.sync();
    second.close();
    expect(readFileSync(path, 'utf8')).toMatch(/\u2028"}\n{"step":3}\n$/);
  });

  test('creates no file if nothing is appended', () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    const writer = new JsonlWriter(path);
    writer.sync();
    writer.close();
    writer.close();
    expect(existsSync(path)).toBe(false);
  });

  test('explains why it cannot write', () => {
    const path = join(makeTempFolder(), 'none', 'a.jsonl');
    expect(() => new JsonlWriter(path).append({ step: 1 })).toThrow(
      `Cannot write ${path}: the system reports an error (ENOENT: no such file or directory, open '${path}'); fix the cause and resume the run`,
    );
  });
});

test('countLogRows() counts complete lines up to a step', async () => {
  const path = join(makeTempFolder(), 'a.jsonl');
  expect(await countLogRows(path, 9)).toBe(0);
  writeFileSync(path, '{"step":1}\n{"step":2,"a":1}\n{"a":1,"step":2}\nno\n{"step":3}\n{"step":2}');
  expect(await countLogRows(path, 2)).toBe(3);
});

describe('truncateLog()', () => {
  test('removes later steps and an incomplete last line', async () => {
    const folder = makeTempFolder();
    const path = join(folder, 'a.jsonl');
    writeFileSync(path, '{"step":1}\n{"step":2,"b":"\u2028"}\n{"step":2}\n{"step":3}\n{"st');
    await truncateLog(path, 2);
    expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n{"step":2,"b":"\u2028"}\n{"step":2}\n');
    expect(await readdir(folder)).toEqual(['a.jsonl']);
    await truncateLog(path, -1);
    expect(await readdir(folder)).toEqual([]);
  });

  test('creates no file', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    await truncateLog(path, 2);
    expect(existsSync(path)).toBe(false);
  });

  test('keeps the lines of earlier steps, wherever the file was truncated', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 3 });
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(), fc.nat(), async (texts, lastStep, at) => {
        const lines = texts.map((text, step) => `${JSON.stringify({ step, text })}\n`);
        const kept = lines.slice(0, (lastStep % (texts.length - 1)) + 1).join('');
        const rest = Buffer.from(lines.join('')).subarray(Buffer.byteLength(kept));
        writeFileSync(path, kept);
        appendFileSync(path, rest.subarray(0, at % rest.length));
        await truncateLog(path, lastStep % (texts.length - 1));
        expect(readFileSync(path, 'utf8')).toBe(kept);
      }),
      { numRuns: 50 },
    );
  });

  test('drops invalid lines only after those that are needed', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    const text = '{"step":1}\n{"step":2}\n\0\0\0:1}\n{"step":2,"human":{}}\n';
    writeFileSync(path, text);
    await expect(truncateLog(path, 2, { needed: 3 })).rejects.toThrow('line 3: it must be JSON');
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(await truncateLog(path, 2, { needed: 2 })).toBe(3);
    expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n{"step":2}\n{"step":2,"human":{}}\n');
  });

  test('completes a last line that lacks only its line feed', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    writeFileSync(path, '{"step":1}\n{"step":2}');
    await truncateLog(path, 2);
    expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n{"step":2}\n');
  });

  test('reads lines that are longer than one chunk', async () => {
    const path = join(makeTempFolder(), 'a.jsonl');
    const line = `${JSON.stringify({ step: 1, text: 'é'.repeat(100_000) })}\n`;
    writeFileSync(path, `${line}${line}{"step":2}\n`);
    await truncateLog(path, 1);
    expect(readFileSync(path, 'utf8')).toBe(line + line);
  });

  test.each(['{"stp":1}', 'x'.repeat(50), 'null', '7'])(
    'names a line that is not a record and leaves the file alone: %s',
    async (bad) => {
      const path = join(makeTempFolder(), 'a.jsonl');
      const text = `{"step":1}\n${bad}\n{"step":2}\n`;
      writeFileSync(path, text);
      await expect(truncateLog(path, 1)).rejects.toThrow(
        `Cannot resume from ${path} line 2: it must be JSON with a "step", got ${JSON.stringify(bad.slice(0, 40))}; fix the line or delete it from a.jsonl`,
      );
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );
});
