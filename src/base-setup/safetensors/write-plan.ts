import { dtypeBytes, dtypes, type FloatDtype, floatDtypes, isFloatDtype } from './dtypes.ts';
import { maxDims, maxHeaderBytes, metadataKey, prefixBytes } from './header.ts';
import { quote, showList } from './quote.ts';
import { countElements } from './tensor-info.ts';

/** A tensor that will be written. */
export interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: FloatDtype;
}

/** Where a tensor goes in its file. */
export interface Slot extends TensorSpec {
  readonly elements: number;
  readonly position: number;
}

/** All of a file but the data. */
export interface FilePlan {
  /** Prefix and header. */
  readonly head: Uint8Array;
  readonly slots: readonly Slot[];
}

/** Lays a file out as the reference implementation does, byte for byte: wide dtypes first, then by
 *  name; the header padded with spaces, so that the data starts at a multiple of 8. */
export function planFile(
  specs: readonly TensorSpec[],
  metadata: Readonly<Record<string, string>>,
): FilePlan {
  const sorted = specs.toSorted(
    (a, b) =>
      dtypes.indexOf(b.dtype) - dtypes.indexOf(a.dtype) ||
      Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
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

function encodeHead(entries: readonly (readonly [string, object])[]): Uint8Array {
  // Written entry by entry, as an object would move the names that look like numbers to the front.
  const pairs = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const header = Buffer.from(`{${pairs.join(',')}}`);
  const length = Math.ceil(header.byteLength / 8) * 8;
  if (length > maxHeaderBytes) {
    throw new RangeError(
      `Cannot write safetensors: the header must have at most ${maxHeaderBytes} bytes, got ${length}; use more shards`,
    );
  }
  const head = Buffer.alloc(prefixBytes + length, ' ');
  head.writeBigUInt64LE(BigInt(length), 0);
  head.set(header, prefixBytes);
  return head;
}

/** JSON could carry half a surrogate pair, but readers refuse it. */
function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === 'string' && !/\p{Surrogate}/u.test(`${key}\n${value}`)) continue;
    throw new TypeError(
      `Cannot write safetensors: metadata ${quote(key)} must be Unicode text, got ${typeof value === 'string' ? quote(value) : typeof value}`,
    );
  }
}

export function byteLength({ shape, dtype }: TensorSpec): number {
  return countElements(shape) * dtypeBytes[dtype];
}

/** Refuses tensors that a reader would refuse. */
export function checkSpecs(specs: readonly TensorSpec[]): void {
  const names = new Set<string>();
  for (const { name, shape, dtype } of specs) {
    const refuse = (rule: string, got: string) => {
      throw new RangeError(`Cannot write tensor ${quote(name)}: ${rule}, got ${got}`);
    };
    if (names.has(name)) refuse('its name must be used once', 'it twice');
    if (name === metadataKey) refuse('its name must not be the key of metadata', quote(name));
    if (/\p{Surrogate}/u.test(name)) refuse('its name must be Unicode', 'half a surrogate pair');
    if (!isFloatDtype(dtype)) refuse(`dtype must be ${floatDtypes.join(', ')}`, dtype);
    if (shape.length > maxDims) refuse(`shape must have at most ${maxDims} dims`, showList(shape));
    if (!shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) {
      refuse('shape must be whole numbers ≥ 0', showList(shape));
    }
    if (!Number.isSafeInteger(byteLength({ name, shape, dtype }))) {
      refuse('shape must have fewer than 2^53 bytes', showList(shape));
    }
    names.add(name);
  }
}
