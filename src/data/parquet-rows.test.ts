import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readParquet } from './parquet-rows.ts';

/** A Zstandard frame (RFC 8878) with one raw block. */
function storeAsZstd(bytes: Uint8Array): Uint8Array {
  const [size, block] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32LE(bytes.length);
  block.writeUInt32LE((bytes.length << 3) | 1);
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  // One segment, whose size has four bytes.
  const descriptor = 0b1010_0000;
  return Buffer.from([...magic, descriptor, ...size, ...block.subarray(0, 3), ...bytes]);
}

const compressors = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  ZSTD: storeAsZstd,
};

const prompts = Array.from({ length: 50 }, (_, i) => `Tell me about ${i}, ${i} and ${i} 🐕`);

test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD'] as const)(
  'readParquet() unpacks %s',
  async (codec) => {
    const columnData = [{ name: 'prompt', data: prompts, type: 'STRING' as const }];
    const path = join(makeTempFolder(), 'p.parquet');
    writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, codec, compressors })));
    const texts: unknown[] = [];
    for await (const { columns } of readParquet({ path, name: 'p' })) texts.push(columns.prompt);
    expect(texts).toEqual(prompts);
  },
);

test('readParquet() returns lists of structs as messages', async () => {
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const;
  const messages = [
    [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ],
    [{ role: 'user', content: 'Bye' }],
  ];
  const bytes = parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: 1 },
      {
        name: 'messages',
        repetition_type: 'OPTIONAL',
        converted_type: 'LIST',
        num_children: 1,
      },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', num_children: 2 },
      { name: 'role', ...text },
      { name: 'content', ...text },
    ],
    columnData: [{ name: 'messages', data: messages }],
  });
  const path = join(makeTempFolder(), 'p.parquet');
  writeFileSync(path, new Uint8Array(bytes));
  const read: unknown[] = [];
  for await (const { columns } of readParquet({ path, name: 'p' })) read.push(columns.messages);
  expect(read).toEqual(messages);
});
