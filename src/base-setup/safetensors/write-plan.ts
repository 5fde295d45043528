import { maxDims, maxHeaderBytes, metadataKey, prefixBytes, singleFileName } from './header.ts';
import {
  countElements,
  dtypeBytes,
  dtypes,
  type FloatDtype,
  floatDtypes,
  isFloatDtype,
  quote,
  showList,
} from './tensor-info.ts';

/** A tensor that will be written. */
export interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: FloatDtype;
}

/** A tensor's position in its file. */
export interface Slot extends TensorSpec {
  readonly elements: number;
  readonly position: number;
}

/** Everything in a file but the data. */
export interface FilePlan {
  /** Prefix and header. */
  readonly head: Uint8Array;
  readonly slots: readonly Slot[];
}

/** Lays out a file byte for byte like the reference implementation: wide dtypes first, then by name,
 *  and the header padded with spaces so that the data starts at a multiple of 8. */
export function planFile(
  specs: readonly TensorSpec[],
  metadata: Readonly<Record<string, string>>,
): FilePlan {
  const sorted = specs.toSorted(
    (a, b) =>
      dtypes.indexOf(b.dtype) - dtypes.indexOf(a.dtype) ||
      compareBytes(encodeUtf8(a.name), encodeUtf8(b.name)),
  );
  checkMetadata(metadata);
  let end = 0;
  const entries = sorted.map((spec) => {
    const begin = end;
    end += byteLength(spec);
    return { spec, begin, end };
  });
  const head = encodeHead([
    [metadataKey, metadata],
    ...entries.map(({ spec: { name, dtype, shape }, begin, end }) => {
      return [name, { dtype, shape, data_offsets: [begin, end] }] as const;
    }),
  ]);
  const slots = entries.map(({ spec, begin }) => {
    return { ...spec, elements: countElements(spec.shape), position: head.byteLength + begin };
  });
  return { head, slots };
}

const SPACE = 0x20;

function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Orders like C's memcmp; of two with the same start, the shorter comes first. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const i = a.findIndex((byte, at) => byte !== b[at]);
  return i < 0 ? a.length - b.length : a[i]! - (b[i] ?? -1);
}

function encodeHead(entries: readonly (readonly [string, object])[]): Uint8Array {
  // Written entry by entry because an object would move names that look like numbers to the front.
  const pairs = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const header = encodeUtf8(`{${pairs.join(',')}}`);
  const length = Math.ceil(header.byteLength / 8) * 8;
  if (length > maxHeaderBytes) {
    throw new RangeError(
      `Cannot write safetensors: the header must have at most ${maxHeaderBytes} bytes, got ${length}; use more shards`,
    );
  }
  const head = new Uint8Array(prefixBytes + length).fill(SPACE);
  new DataView(head.buffer).setBigUint64(0, BigInt(length), true);
  head.set(header, prefixBytes);
  return head;
}

/** JSON can carry a lone surrogate, but readers reject it. */
function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === 'string' && !/\p{Surrogate}/u.test(`${key}\n${value}`)) continue;
    throw new TypeError(
      `Cannot write safetensors: metadata ${quote(key)} must be Unicode text, got ${typeof value === 'string' ? quote(value) : typeof value}`,
    );
  }
}

function byteLength({ shape, dtype }: TensorSpec): number {
  return countElements(shape) * dtypeBytes[dtype];
}

/** Rejects tensors that a reader would reject. */
export function checkSpecs(specs: readonly TensorSpec[]): void {
  const names = new Set<string>();
  for (const { name, shape, dtype } of specs) {
    const fail = (rule: string, got: string) => {
      throw new RangeError(`Cannot write tensor ${quote(name)}: ${rule}, got ${got}`);
    };
    if (names.has(name)) fail('its name must be unique', 'it twice');
    if (name === metadataKey) fail('its name must not be the key of metadata', quote(name));
    if (/\p{Surrogate}/u.test(name)) fail('its name must be Unicode', 'a lone surrogate');
    if (!isFloatDtype(dtype)) fail(`dtype must be ${floatDtypes.join(', ')}`, dtype);
    if (shape.length > maxDims) fail(`shape must have at most ${maxDims} dims`, showList(shape));
    if (!shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) {
      fail('shape must be whole numbers ≥ 0', showList(shape));
    }
    if (!Number.isSafeInteger(byteLength({ name, shape, dtype }))) {
      fail('shape must have fewer than 2^53 bytes', showList(shape));
    }
    names.add(name);
  }
}

/** The tensors of each file, by file name. */
export type ShardPlan = ReadonlyMap<string, readonly TensorSpec[]>;

/** Assigns tensors to shards in their order, as huggingface_hub does.
 *  @example limit 10, sizes 6, 6, 2, 6, 2, 2  →  [6], [6, 2], [6, 2, 2] */
export function planShards(specs: readonly TensorSpec[], maxShardBytes: number): ShardPlan {
  if (!(maxShardBytes > 0)) {
    throw new RangeError(
      `Cannot write shards: maxShardBytes must be greater than 0, got ${maxShardBytes}`,
    );
  }
  const shards: TensorSpec[][] = [];
  let current: TensorSpec[] = [];
  let size = 0;
  for (const spec of specs) {
    const bytes = byteLength(spec);
    if (bytes > maxShardBytes) {
      shards.push([spec]);
      continue;
    }
    if (size + bytes > maxShardBytes) {
      shards.push(current);
      current = [];
      size = 0;
    }
    current.push(spec);
    size += bytes;
  }
  if (current.length > 0 || shards.length === 0) shards.push(current);
  if (shards.length === 1) return new Map([[singleFileName, shards[0]!]]);
  const digits = (n: number) => String(n).padStart(5, '0');
  return new Map(
    shards.map((shard, i) => [
      `model-${digits(i + 1)}-of-${digits(shards.length)}.safetensors`,
      shard,
    ]),
  );
}

/** The text of `model.safetensors.index.json`. */
export function planShardIndex(shards: ShardPlan): string {
  const specs = [...shards.values()].flat();
  const total_size = specs.reduce((sum, spec) => sum + byteLength(spec), 0);
  const weight_map = Object.fromEntries(
    [...shards].flatMap(([file, of]) => of.map(({ name }) => [name, file])),
  );
  return `${JSON.stringify({ metadata: { total_size }, weight_map }, undefined, 2)}\n`;
}
