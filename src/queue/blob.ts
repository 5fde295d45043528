import { createHash } from 'node:crypto';
import type { ByteSource } from '../base-setup/safetensors/byte-source.ts';
import { readHeader } from '../base-setup/safetensors/header.ts';

/** The arrays that a blob can hold, with their names in safetensors. */
const arrayTypes = { F32: Float32Array, I32: Int32Array, U8: Uint8Array } as const;

type BlobArray = Float32Array | Int32Array | Uint8Array;

const DTYPES = Object.entries(arrayTypes).map(([dtype, type]) => ({ dtype, type }));

/** The key of the metadata that holds everything but the arrays. */
const VALUE_KEY = 'value';

/** A number that JSON cannot represent, or the place of an array. */
interface Special {
  readonly $array?: number;
  readonly $number?: 'NaN' | 'Infinity' | '-Infinity' | '-0';
}

/**
 * Encodes a value of plain objects, strings, numbers and typed arrays as a safetensors file: the arrays
 * are its tensors, the rest is JSON in its metadata. An array that occurs several times is stored once.
 */
export function encodeBlob(value: unknown): Buffer {
  const arrays: BlobArray[] = [];
  const places = new Map<unknown, number>();
  const simplify = (part: unknown): unknown => {
    if (typeof part === 'number') return isPlain(part) ? part : { $number: numberName(part) };
    if (ArrayBuffer.isView(part)) {
      const place = places.get(part) ?? arrays.push(part as BlobArray) - 1;
      places.set(part, place);
      return { $array: place };
    }
    if (Array.isArray(part)) return part.map(simplify);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, simplify(item)]));
  };
  const text = JSON.stringify(simplify(value));
  const header: Record<string, object> = { __metadata__: { [VALUE_KEY]: text } };
  let end = 0;
  for (const [place, array] of arrays.entries()) {
    const begin = end;
    end += array.byteLength;
    const shape = [array.length];
    header[`array.${place}`] = { dtype: dtypeOf(array), shape, data_offsets: [begin, end] };
  }
  return concat(JSON.stringify(header), arrays);
}

/** Decodes what `encodeBlob` returned. */
export async function decodeBlob(bytes: Uint8Array): Promise<unknown> {
  const { tensors, metadata } = await readHeader(memorySource(bytes));
  const arrays = new Map(
    tensors.map(({ name, dtype, offset, length }) => {
      const type = arrayTypes[dtype as keyof typeof arrayTypes];
      if (type === undefined) throw new TypeError(`Cannot decode a blob: no arrays of ${dtype}`);
      // Copied, because an array must start at a multiple of its element size.
      const copy = Uint8Array.from(bytes.subarray(offset, offset + length));
      return [name, new type(copy.buffer)];
    }),
  );
  const revive = (_: string, part: unknown) => {
    if (typeof part !== 'object' || part === null) return part;
    const { $array, $number } = part as Special;
    if ($number !== undefined) return Number($number);
    if ($array === undefined) return part;
    const array = arrays.get(`array.${$array}`);
    if (array === undefined)
      throw new RangeError(`Cannot decode a blob: array ${$array} is missing`);
    return array;
  };
  return parseJson(metadata.get(VALUE_KEY) ?? 'null', revive);
}

function parseJson(text: string, revive: (key: string, part: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, revive);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SyntaxError(`Cannot decode a blob: its value must be JSON (${error.message})`);
  }
}

/** The name of some bytes: their SHA-256 in hexadecimal. */
export function hashBytes(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isPlain(number: number): boolean {
  return Number.isFinite(number) && !Object.is(number, -0);
}

function numberName(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

function dtypeOf(array: BlobArray): string {
  const found = DTYPES.find(({ type }) => array instanceof type);
  if (found !== undefined) return found.dtype;
  throw new TypeError(
    `Cannot encode a blob: arrays must be Float32Array, Int32Array or Uint8Array, got ${(array as object).constructor.name}`,
  );
}

function concat(header: string, arrays: readonly BlobArray[]): Buffer {
  const text = Buffer.from(header);
  const padded = Math.ceil(text.byteLength / 8) * 8;
  const size = arrays.reduce((sum, { byteLength }) => sum + byteLength, 8 + padded);
  const bytes = Buffer.alloc(size, ' ');
  bytes.writeBigUInt64LE(BigInt(padded), 0);
  bytes.set(text, 8);
  let position = 8 + padded;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), position);
    position += byteLength;
  }
  return bytes;
}

function memorySource(bytes: Uint8Array): ByteSource {
  return {
    file: 'a blob',
    size: bytes.byteLength,
    read: async (view, position) => {
      const part = bytes.subarray(position, position + view.byteLength);
      view.set(part);
      return part.byteLength;
    },
    close: async () => {},
  };
}
