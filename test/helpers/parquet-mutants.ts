import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { randomStream } from '../../src/engine/random/index.ts';

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const;
const prompts = Array.from({ length: 40 }, (_, i) => `Tell me about ${i % 7}, please`);
const ids = prompts.map((_, i) => BigInt(i));

/** Parquet files of different codecs, encodings and shapes. */
const originals: readonly Uint8Array[] = [
  ...(['UNCOMPRESSED', 'SNAPPY', 'GZIP'] as const).map((codec) =>
    parquetWriteBuffer({
      columnData: [
        { name: 'prompt', data: prompts, type: 'STRING' },
        { name: 'id', data: ids, type: 'INT64' },
        { name: 'maybe', data: prompts.map((_, i) => (i % 3 ? i / 2 : null)), type: 'DOUBLE' },
        { name: 'flag', data: prompts.map((_, i) => i % 2 === 0), type: 'BOOLEAN' },
      ],
      rowGroupSize: 25,
      codec,
      compressors: { GZIP: (bytes) => gzipSync(bytes) },
    }),
  ),
  parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'id', type: 'INT64', repetition_type: 'REQUIRED' },
      { name: 'messages', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', num_children: 2 },
      { name: 'role', ...text },
      { name: 'content', ...text },
    ],
    columnData: [
      { name: 'id', data: ids },
      {
        name: 'messages',
        data: prompts.map((content, i) => [
          { role: 'user', content },
          ...(i % 2 ? [{ role: 'assistant', content: `Number ${i}` }] : []),
        ]),
      },
    ],
    rowGroupSize: 25,
  }),
].map((bytes) => new Uint8Array(bytes));

/** Damaged Parquet files, the same for every call. */
export function* makeMutants(count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) yield damage(originals[i % originals.length]!, i);
}

/** Changes one to four places: flipped bits, other bytes, deleted or repeated parts. */
function damage(original: Uint8Array, seed: number): Uint8Array {
  const random = randomStream(seed, 'parquet mutants');
  const below = (limit: number) => random.integer(limit);
  let bytes = Uint8Array.from(original);
  for (let n = 1 + below(4); n > 0; n--) {
    // Half of the changes are in the footer, which has the sizes and offsets of everything else.
    const footer = new DataView(bytes.buffer).getUint32(Math.max(0, bytes.length - 8), true) + 8;
    const start = below(2) && footer < bytes.length ? bytes.length - footer : 0;
    const at = start + below(bytes.length - start);
    const kind = below(8);
    if (kind < 3) bytes[at] = bytes[at]! ^ (1 << below(8));
    else if (kind < 5) bytes[at] = below(256);
    else if (kind < 6) bytes.fill(below(2) ? 0xff : 0, at, at + 1 + below(4));
    else if (kind < 7) bytes = join(bytes.subarray(0, at), bytes.subarray(at + 1 + below(8)));
    else bytes = join(bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 1 - below(8))));
  }
  return bytes;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...first, ...second]);
}
