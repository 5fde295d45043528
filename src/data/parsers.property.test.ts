import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readCsv, readTsv } from './csv-rows.ts';
import type { DataFile, DataRow } from './data-row.ts';
import { readJsonLines } from './file-rows.ts';
import { readLines } from './read-text.ts';

/** Characters that parsers treat differently. */
const snippets = ['"', '""', ',', '\t', '\n', '\r\n', '\r', '\u2028', '\u2029', '\u0085', '\ufeff'];
const text = fc
  .array(fc.oneof(fc.constantFrom(...snippets, ' '), fc.string({ unit: 'grapheme' })))
  .map((parts) => parts.join(''));
/** Each run writes and reads a file. */
const runs = { numRuns: 50 };
const lineEnd = fc.constantFrom('\n', '\r\n');

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Writes each text to the same file. */
function fileWriter(): (content: string) => DataFile {
  const path = join(makeTempFolder(), 'data');
  return (content) => {
    writeFileSync(path, content);
    return { path, name: 'f' };
  };
}

const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
const countLines = (written: string) => written.split(/\r\n|\n|\r/).length - 1;

describe.each([
  ['readCsv()', ',', readCsv],
  ['readTsv()', '\t', readTsv],
] as const)('%s', (_, separator, read) => {
  test('returns what was written, with the first line of each row', async () => {
    const write = fileWriter();
    const row = fc.record({ fields: fc.tuple(text, text), end: lineEnd, blanks: fc.nat(2) });
    const check = async (rows: { fields: string[]; end: string; blanks: number }[]) => {
      let content = `a${separator}b\n`;
      const wanted = rows.map(({ fields: [a = '', b = ''], end, blanks }) => {
        content += end.repeat(blanks);
        const origin = `f line ${countLines(content) + 1}`;
        content += `${quoted(a)}${separator}${quoted(b)}${end}`;
        return { columns: { a, b }, origin };
      });
      expect(await collect<DataRow>(read(write(content)))).toEqual(wanted);
    };
    await fc.assert(fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), check), runs);
  });

  test('reads unquoted fields unchanged', async () => {
    const write = fileWriter();
    const plain = text.map((field) => field.replaceAll(/["\r\n,\t]/g, ''));
    const check = async (a: string, b: string, end: string) => {
      const content = `\ufeffa${separator}b${end}${a}x${separator}${b}`;
      const rows = await collect<DataRow>(read(write(content)));
      expect(rows).toEqual([{ columns: { a: `${a}x`, b }, origin: 'f line 2' }]);
    };
    await fc.assert(fc.asyncProperty(plain, plain, lineEnd, check), runs);
  });
});

describe('readJsonLines()', () => {
  test('returns what was written, including Unicode separators', async () => {
    const write = fileWriter();
    const check = async (values: Record<string, unknown>[], end: string) => {
      const content = values.map((value) => `${JSON.stringify(value)}${end}`).join('');
      const rows = await collect(readJsonLines(write(content)));
      expect(rows).toEqual(values.map((columns, i) => ({ columns, origin: `f line ${i + 1}` })));
    };
    const value = fc.record({ prompt: text, tags: fc.array(text), n: fc.integer() });
    await fc.assert(fc.asyncProperty(fc.array(value), lineEnd, check), runs);
  });
});

describe('readLines()', () => {
  test('splits text only at LF and drops a preceding CR', async () => {
    const write = fileWriter();
    const check = async (content: string) => {
      const wanted = content.split('\n');
      if (wanted.at(-1) === '') wanted.pop();
      if (wanted[0]?.startsWith('\ufeff')) wanted[0] = wanted[0].slice(1);
      const lines = await collect(readLines(write(content)));
      expect(lines.map((line) => line.text)).toEqual(wanted.map((line) => line.replace(/\r$/, '')));
      expect(lines.map((line) => line.number)).toEqual(wanted.map((_, i) => i + 1));
    };
    await fc.assert(fc.asyncProperty(text, check), runs);
  });

  test('joins lines and characters that span chunks of a large file', async () => {
    // Files are read 64 KiB at a time; a dog has four bytes, a line three more than a multiple.
    const lines = Array.from({ length: 5 }, (_, i) => `${i}xy${'🐕'.repeat(20_000)}`);
    const file = fileWriter()(lines.join('\r\n'));
    expect((await collect(readLines(file))).map((line) => line.text)).toEqual(lines);
  });
});
