import { readFileSync, writeFileSync } from 'node:fs';
import type { FileSlice } from '../../src/engine/graph/index.ts';
import { type Tensor, tensor } from '../../src/engine/runtime/index.ts';

const LENGTH_BYTES = 8;

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

export interface StoredTensor {
  readonly dtype: 'F32' | 'F16' | 'BF16';
  readonly shape: readonly number[];
  readonly data: Float32Array | Uint16Array;
}

/** Writes a safetensors file: header length (8 bytes, little-endian), JSON header, data. */
export function writeSafetensors(
  file: string,
  tensors: Readonly<Record<string, StoredTensor>>,
): Record<string, FileSlice> {
  const header: Record<string, HeaderEntry> = {};
  let end = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const start = encodeHeader(header);
  const bytes = Object.values(tensors).map(
    ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  );
  writeFileSync(file, Buffer.concat([start, ...bytes]));
  return Object.fromEntries(
    Object.entries(header).map(
      ([
        name,
        {
          data_offsets: [from, to],
        },
      ]) => [name, { file, offset: start.byteLength + from, length: to - from }],
    ),
  );
}

export function encodeHeader(header: Readonly<Record<string, HeaderEntry>>): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(text.byteLength));
  return Buffer.concat([length, text]);
}

/** Reads a file of F32 tensors and the `about` text in its metadata. */
export function readSafetensors(file: string | URL): {
  about: string;
  tensors: Record<string, Tensor<'float32'>>;
} {
  const bytes = readFileSync(file);
  const start = LENGTH_BYTES + Number(bytes.readBigUInt64LE());
  const { __metadata__, ...header } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, start)) as {
    readonly __metadata__: { readonly about: string };
  } & Record<string, HeaderEntry>;
  const tensors = Object.entries(header).map(
    ([
      name,
      {
        shape,
        data_offsets: [from, to],
      },
    ]) => {
      const data = new Float32Array(
        Uint8Array.from(bytes.subarray(start + from, start + to)).buffer,
      );
      return [name, tensor(data, shape)] as const;
    },
  );
  return { about: __metadata__.about, tensors: Object.fromEntries(tensors) };
}
