import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { fuzzParquet } from '../../test/helpers/parquet-fuzz.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { parseAllRows, readFileRows, readInSandbox } from './file-rows.ts';

const mebi = 2 ** 20;

function makeFile(name: string, content: string | Uint8Array) {
  const path = join(makeTempFolder(), name);
  writeFileSync(path, content);
  return { path, name };
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

test('readFileRows() returns rows or one error for 300 damaged Parquet files', async () => {
  const { read, errors, unhandled } = await fuzzParquet(300);
  expect(unhandled).toBe(0);
  expect(read + errors.length).toBe(300);
  expect(read).toBeGreaterThan(30);
  for (const error of errors) expect(error).toMatch(/^Cannot read p: .+$/);
});

test('readFileRows() reports bad rows of a compressed file in order', async () => {
  const file = makeFile('p.jsonl.gz', gzipSync('1\n{"a":1}\nbroken\n[]\n{"a":2}\n"b"\nnull'));
  const events: string[] = [];
  const rows = readFileRows(file, ({ reason, origin }) => events.push(`${reason} ${origin}`));
  for await (const { columns } of rows) events.push(JSON.stringify(columns));
  expect(events).toEqual([
    'invalid-row p.jsonl.gz line 1',
    '{"a":1}',
    'invalid-row p.jsonl.gz line 3',
    'invalid-row p.jsonl.gz line 4',
    '{"a":2}',
    '{"text":"b"}',
    'invalid-row p.jsonl.gz line 7',
  ]);
});

test('readFileRows() returns all values of a Parquet file as they are in this thread', async () => {
  const bytes = parquetWriteBuffer({
    columnData: [
      { name: 'time', data: [new Date(1e12), null], type: 'TIMESTAMP' },
      { name: 'id', data: [1n, 2n ** 60n], type: 'INT64' },
      { name: 'key', data: ['00000000-0000-4000-8000-000000000001', null], type: 'UUID' },
      { name: 'tags', data: [{ a: [1, null] }, 'x'], type: 'JSON' },
    ],
  });
  const file = makeFile('p.parquet', new Uint8Array(bytes));
  const rows = await collect(readFileRows(file));
  expect(rows[0]?.columns).toMatchObject({ time: new Date(1e12), id: 1, tags: { a: [1, null] } });
  expect(rows).toEqual(await collect(parseAllRows(file)));
});

test('readInSandbox() reads any format', async () => {
  const rows = await collect(readInSandbox(makeFile('p.csv', 'a,b\n1,2\n')));
  expect(rows).toEqual([{ columns: { a: '1', b: '2' }, origin: 'p.csv line 2' }]);
  await expect(collect(readInSandbox(makeFile('p.txt', Buffer.from([255]))))).rejects.toThrow(
    'Cannot read p.txt line 1: it must be UTF-8, got other bytes',
  );
  await expect(collect(readInSandbox(makeFile('p.doc', '')))).rejects.toThrow(
    'Cannot read p.doc: its name must end in',
  );
});

test.each([
  ['a line', 'p.txt.gz', Buffer.alloc(70 * mebi)],
  ['lines', 'p.jsonl.gz', Buffer.alloc(70 * mebi, `{"a":"${'x'.repeat(4000)}"}\n`)],
  ['a list', 'p.json.gz', Buffer.alloc(70 * mebi, '[')],
])('a compressed file that expands too much is rejected: %s', async (_, name, bytes) => {
  const file = makeFile(name, gzipSync(bytes));
  let rows = 0;
  const read = async () => {
    for await (const _ of readFileRows(file)) rows++;
  };
  await expect(read()).rejects.toThrow(
    new RegExp(
      `^Cannot read ${name}: its text must be at most 200 times as large as the file of \\d+ bytes, got more; decompress it first if it is correct$`,
    ),
  );
  expect(rows).toBeLessThanOrEqual((64 * mebi) / 4000);
});

test('a line of more than 64 MiB is rejected', async () => {
  const file = makeFile('p.jsonl', '{"a":1}\n');
  truncateSync(file.path, 66 * mebi);
  await expect(collect(readFileRows(file))).rejects.toThrow(
    new RangeError(
      'Cannot read p.jsonl line 2: a line must have at most 64 MiB, got more; write one row per line',
    ),
  );
});
