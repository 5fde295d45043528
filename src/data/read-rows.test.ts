import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { DataRow } from './data-row.ts';
import { type RowSource, readRows } from './read-rows.ts';

/** Writes a file; `shorten` takes its folder out of a text. */
function makeFile(name: string, content: string | Uint8Array) {
  const folder = makeTempFolder();
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, shorten: (text: string) => text.replaceAll(`${folder}/`, '') };
}

async function collect(source: RowSource): Promise<DataRow[]> {
  const rows: DataRow[] = [];
  for await (const row of readRows(source)) rows.push(row);
  return rows;
}

/** The rows of a file of that name and content. */
async function readFile(name: string, content: string | Uint8Array): Promise<DataRow[]> {
  const { path, shorten } = makeFile(name, content);
  return (await collect(path)).map((row) => ({ ...row, origin: shorten(row.origin) }));
}

/** The message with which reading a file fails. */
async function errorOf(name: string, content: string | Uint8Array): Promise<string> {
  const { path, shorten } = makeFile(name, content);
  return collect(path).then(
    (rows) => expect.fail(`read ${rows.length} rows`),
    (error: Error) => shorten(error.message),
  );
}

const columns = (rows: readonly DataRow[]) => rows.map((row) => row.columns);
const origins = (rows: readonly DataRow[]) => rows.map((row) => row.origin);

const cat = { prompt: 'A cat, "Tom"', id: '1' };
const dog = { prompt: 'Zwei\nHunde 🐕', id: '2' };

describe('readRows() reads', () => {
  test('JSON Lines with BOM, CRLF, blank lines and no final line end', async () => {
    const text = `\ufeff${JSON.stringify(cat)}\r\n\r\n  \n"just text"\n${JSON.stringify(dog)}`;
    const rows = await readFile('p.jsonl', text);
    expect(columns(rows)).toEqual([cat, { text: 'just text' }, dog]);
    expect(origins(rows)).toEqual(['p.jsonl line 1', 'p.jsonl line 4', 'p.jsonl line 5']);
  });

  test('compressed JSON Lines', async () => {
    const packed = gzipSync(`${JSON.stringify(cat)}\n${JSON.stringify(dog)}\n`);
    expect(columns(await readFile('p.jsonl.gz', packed))).toEqual([cat, dog]);
  });

  test('a JSON list and an object with one list', async () => {
    const rows = await readFile('p.json', JSON.stringify([cat, 'text']));
    expect(columns(rows)).toEqual([cat, { text: 'text' }]);
    expect(origins(rows)).toEqual(['p.json row 1', 'p.json row 2']);
    const wrapped = `\ufeff${JSON.stringify({ version: 1, data: [dog] }, null, 2)}\r\n`;
    expect(columns(await readFile('p.JSON', wrapped))).toEqual([dog]);
  });

  test('CSV with quotes, line ends in fields, BOM and mixed line ends', async () => {
    const text = '\ufeffprompt,id\r\n"A cat, ""Tom""",1\n\n"Zwei\nHunde 🐕",2\r\n,3';
    const rows = await readFile('p.csv', text);
    expect(columns(rows)).toEqual([cat, dog, { prompt: '', id: '3' }]);
    expect(origins(rows)).toEqual(['p.csv line 2', 'p.csv line 4', 'p.csv line 6']);
  });

  test('TSV with literal quotes', async () => {
    const rows = await readFile('p.tsv', 'prompt\tid\nsay "hi", now\t1\n"a\tb"\t2\n');
    expect(columns(rows)).toEqual([
      { prompt: 'say "hi", now', id: '1' },
      { prompt: 'a\tb', id: '2' },
    ]);
  });

  test('Parquet of several row groups, with lists and 64-bit integers', async () => {
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'prompt', data: ['one', 'two', 'drei 🐕'], type: 'STRING' },
        { name: 'id', data: [1n, 2n, 2n ** 60n], type: 'INT64' },
        { name: 'messages', data: [[{ role: 'user' }], [], null], type: 'JSON' },
      ],
      rowGroupSize: 2,
    });
    const rows = await readFile('p.parquet', new Uint8Array(bytes));
    expect(columns(rows)).toEqual([
      { prompt: 'one', id: 1, messages: [{ role: 'user' }] },
      { prompt: 'two', id: 2, messages: [] },
      { prompt: 'drei 🐕', id: '1152921504606846976', messages: null },
    ]);
    expect(origins(rows)).toEqual(['p.parquet row 1', 'p.parquet row 2', 'p.parquet row 3']);
  });

  test('text with one prompt per non-blank line', async () => {
    const rows = await readFile('p.txt', '\ufeffOne\r\n\r\n \t\n  two \u2028 lines\n');
    expect(columns(rows)).toEqual([{ text: 'One' }, { text: '  two \u2028 lines' }]);
    expect(origins(rows)).toEqual(['p.txt line 1', 'p.txt line 4']);
  });

  test('in-memory values', async () => {
    const rows = await collect(['Hello', cat]);
    expect(rows).toEqual([
      { columns: { text: 'Hello' }, origin: 'prompt 1' },
      { columns: cat, origin: 'prompt 2' },
    ]);
  });

  test('only as many rows as requested', async () => {
    const { path } = makeFile('p.jsonl', '{"a":1}\nbroken');
    for await (const row of readRows(path)) {
      expect(row.columns).toEqual({ a: 1 });
      break;
    }
  });
});

describe('readRows() rejects', () => {
  test.each([
    ['p.jsonl', '{"a":1}\n{"a" 2}\n', "line 2: it must be JSON (Expected ':'"],
    ['p.jsonl', '"a"\n\n17\n', 'line 3: it must be an object or a string, got number'],
    ['p.jsonl', '["a"]', 'line 1: it must be an object or a string, got a list'],
    ['p.json', '{"a": [}', 'it must be JSON (Unexpected token'],
    ['p.json', '["a", null]', 'row 2: it must be an object or a string, got null'],
    ['p.json', '"a"', 'it must be a list or an object with one list, got string'],
    [
      'p.json',
      '{"a":1}',
      'it must be a list or an object with one list, got an object without a list',
    ],
    [
      'p.json',
      '{"a":[],"b":[]}',
      'it must be a list or an object with one list, got an object with the lists "a", "b"',
    ],
    [
      'p.csv',
      'a,b\n1,2\n"x\ny",2,3\n',
      'line 3: it must have 2 fields like the header, got 3; quote fields that contain separators or line ends',
    ],
    ['p.csv', 'a,b,a\n', 'line 1: column names must be unique, got "a" twice'],
    [
      'p.csv',
      'a,b\n1,2\n\n3,say "hi"\n',
      'from line 3: quotes must be around whole fields, got one inside a field; write a quote inside a quoted field twice',
    ],
    [
      'p.csv',
      'a,b\n1,"2\n3,4\n5,6\n',
      'from line 2: quotes must be around whole fields, got one without an end; write a quote inside a quoted field twice',
    ],
    ['p.parquet', 'PAR1 or so', 'it must be a complete Parquet file (parquet file invalid'],
    ['p.txt', Buffer.from([0x61, 0x0a, 0xff, 0xfe]), 'line 2: it must be UTF-8, got other bytes'],
    ['p.csv', Buffer.from([0x61, 0x0a, 0xff]), 'it must be UTF-8, got other bytes; convert it'],
    ['p.jsonl.gz', 'plain', 'it must be a complete gzip file, got "incorrect header check"'],
    [
      'p.txt.gz',
      gzipSync('some text').subarray(0, 20),
      'it must be a complete gzip file, got "unex',
    ],
  ])('%s with %j', async (name, content, error) => {
    const space = /^(from )?(line|row) \d/.test(error) ? ' ' : ': ';
    expect(await errorOf(name, content)).toContain(`Cannot read ${name}${space}${error}`);
  });

  test.each(['p.jsonl', 'p.csv', 'p.txt'])('an empty %s', async (name) => {
    for (const content of ['', '\n\r\n']) {
      expect(await errorOf(name, content)).toBe(
        `Cannot read ${name}: it must have at least one row, got none`,
      );
    }
  });

  test('a CSV with only a header, an empty list and no values', async () => {
    const error = 'it must have at least one row, got none';
    expect(await errorOf('p.csv', 'a,b\n')).toBe(`Cannot read p.csv: ${error}`);
    expect(await errorOf('p.json', '[]')).toBe(`Cannot read p.json: ${error}`);
    await expect(collect([])).rejects.toThrow(`Cannot read the prompts: ${error}`);
  });

  test('an unknown extension', async () => {
    expect(await errorOf('p.docx', '')).toBe(
      'Cannot read p.docx: its name must end in .parquet, .jsonl, .ndjson, .csv, .tsv, .json, .txt, or a text format followed by .gz; rename or convert it',
    );
    expect(await errorOf('p.parquet.gz', '')).toContain('its name must end in');
  });

  test('a missing file and a folder', async () => {
    const rule = 'it must be a file or a hub dataset such as "owner/name", got';
    for (const missing of ['prompts.jsonl', 'data/prompts.jsonl', './prompts', 'prompts']) {
      await expect(collect(missing)).rejects.toThrow(
        `Cannot read ${missing}: ${rule} no such file`,
      );
    }
    const folder = join(makeTempFolder(), 'prompts');
    mkdirSync(folder);
    await expect(collect(folder)).rejects.toThrow(`Cannot read ${folder}: ${rule} a folder`);
  });
});
