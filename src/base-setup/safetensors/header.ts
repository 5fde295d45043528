import { type ByteSource, readFully } from './byte-source.ts';
import { JsonCursor } from './json-cursor.ts';
import {
  countElements,
  dtypeBytes,
  dtypes,
  isDtype,
  quote,
  showList,
  type TensorInfo,
} from './tensor-info.ts';

/** Hugging Face's file names for the weights in a model folder. */
export const singleFileName = 'model.safetensors';
export const indexFileName = 'model.safetensors.index.json';

/** Bytes before the header, which hold its length as a little-endian 64-bit number. */
export const prefixBytes = 8;
/** The reference implementation's limit. */
export const maxHeaderBytes = 100_000_000;
/** More than any tensor library allows; without a limit a header could hold millions. */
export const maxDims = 64;
/** The only key of a header that is not a tensor. */
export const metadataKey = '__metadata__';

export interface Header {
  /** In the order of their bytes. */
  readonly tensors: readonly TensorInfo[];
  readonly metadata: ReadonlyMap<string, string>;
}

/** Reads and checks everything before the data.
 *
 *  Each byte of the file belongs to the prefix, the header or exactly one tensor, so memory
 *  allocated later for a tensor never exceeds the file's size (twice that for 16-bit floats). */
export async function readHeader(source: ByteSource): Promise<Header> {
  const length = await readHeaderLength(source);
  const bytes = new Uint8Array(length);
  await readFully(source, bytes, { position: prefixBytes });
  const text = decodeUtf8(bytes, { file: source.file, what: 'the header' });
  if (text[0] !== '{') {
    const got = text === '' ? 'no text' : quote(text.slice(0, 1));
    throw new SyntaxError(`Cannot read ${source.file}: the header must start with "{", got ${got}`);
  }
  return parseHeader(text, {
    file: source.file,
    dataStart: prefixBytes + length,
    size: source.size,
  });
}

/** The text of a file's part, which must be UTF-8. */
export function decodeUtf8(
  bytes: Uint8Array,
  { file, what }: { readonly file: string; readonly what: string },
): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SyntaxError(`Cannot read ${file}: ${what} must be UTF-8, got other bytes`, { cause });
  }
}

async function readHeaderLength(source: ByteSource): Promise<number> {
  const { file, size } = source;
  if (size < prefixBytes) {
    throw new RangeError(
      `Cannot read ${file}: a safetensors file must have at least ${prefixBytes} bytes, got ${size}`,
    );
  }
  const prefix = new DataView(new ArrayBuffer(prefixBytes));
  await readFully(source, prefix, { position: 0 });
  const length = prefix.getBigUint64(0, true);
  if (length > maxHeaderBytes) {
    throw new RangeError(
      `Cannot read ${file}: the header must have at most ${maxHeaderBytes} bytes, got ${length}; is it a safetensors file?`,
    );
  }
  if (Number(length) > size - prefixBytes) {
    throw new RangeError(
      `Cannot read ${file}: the header must end within the file of ${size} bytes, got a header of ${length} bytes; the file is truncated`,
    );
  }
  return Number(length);
}

function parseHeader(text: string, range: DataRange): Header {
  const cursor = new JsonCursor(text, { file: range.file, whole: 'the header' });
  const tensors: TensorInfo[] = [];
  let metadata: ReadonlyMap<string, string> = new Map();
  cursor.object('it must be an object', (name) => {
    cursor.subject = name === metadataKey ? metadataKey : `tensor ${quote(name)}`;
    if (name === metadataKey) metadata = parseMetadata(cursor);
    else tensors.push(parseTensor(cursor, { name, ...range }));
    cursor.subject = 'the header';
  });
  cursor.end();
  tensors.sort((a, b) => a.offset - b.offset || a.length - b.length);
  checkLayout(tensors, range);
  return { tensors, metadata };
}

function parseMetadata(cursor: JsonCursor): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  const rule = 'it must be an object of strings';
  cursor.object(rule, (key) => metadata.set(key, cursor.string(rule)));
  return metadata;
}

/** A tensor's JSON before it is checked. */
interface Entry {
  dtype?: string;
  shape?: readonly number[];
  data_offsets?: readonly number[];
}

function parseTensor(cursor: JsonCursor, of: DataRange & { readonly name: string }): TensorInfo {
  const entry: Entry = {};
  cursor.object('it must be an object', (key) => {
    if (key === 'dtype') entry.dtype = cursor.string('dtype must be a string');
    else if (key === 'shape' || key === 'data_offsets') entry[key] = parseCounts(cursor, key);
    else cursor.fail('its keys must be dtype, shape and data_offsets', quote(key));
  });
  const { dtype, shape, data_offsets: offsets } = entry;
  if (dtype === undefined) cursor.fail('it must have a dtype', 'none');
  if (shape === undefined) cursor.fail('it must have a shape', 'none');
  if (offsets === undefined) cursor.fail('it must have data_offsets', 'none');
  if (!isDtype(dtype)) {
    cursor.fail(`dtype must be one of ${dtypes.join(', ')}`, quote(dtype));
  }
  const bytes = countElements(shape) * dtypeBytes[dtype];
  if (bytes === Infinity) {
    cursor.fail('shape must have at most 2^53 - 1 elements', showList(shape));
  }
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || offsets.length > 2) {
    cursor.fail('data_offsets must be two numbers', showList(offsets));
  }
  if (end - begin !== bytes) {
    const rule = `data_offsets must span the ${bytes} bytes of ${dtype} ${showList(shape)}`;
    cursor.fail(rule, showList(offsets));
  }
  const { name, file, dataStart } = of;
  return { name, dtype, shape, file, offset: dataStart + begin, length: bytes };
}

function parseCounts(cursor: JsonCursor, key: string): readonly number[] {
  const rule = `${key} must be a list of whole numbers from 0 to 2^53 - 1`;
  const counts: number[] = [];
  cursor.list(rule, () => {
    if (counts.push(cursor.count(rule)) > maxDims) {
      cursor.fail(`${key} must have at most ${maxDims} numbers`, 'more');
    }
  });
  return counts;
}

/** The data of a file: from `dataStart` to the end. */
interface DataRange {
  readonly file: string;
  readonly dataStart: number;
  readonly size: number;
}

/** Checks that the tensors, in the order of their bytes, fill the data without overlap or gap. */
function checkLayout(tensors: readonly TensorInfo[], { file, dataStart, size }: DataRange): void {
  const dataBytes = size - dataStart;
  let filled = 0;
  let before = 'the header';
  for (const { name, offset, length } of tensors) {
    const begin = offset - dataStart;
    const subject = `Cannot read ${file}: tensor ${quote(name)}`;
    if (begin + length > dataBytes) {
      throw new RangeError(
        `${subject}: it must end within the ${dataBytes} bytes of data, got data_offsets [${begin}, ${begin + length}]; the file is truncated`,
      );
    }
    if (begin !== filled) {
      const fault = begin < filled ? 'they overlap' : 'there is a gap';
      throw new RangeError(
        `${subject}: it must start at byte ${filled} of the data, where ${before} ends, got byte ${begin}: ${fault}`,
      );
    }
    filled += length;
    before = `tensor ${quote(name)}`;
  }
  if (filled !== dataBytes) {
    throw new RangeError(
      `Cannot read ${file}: the tensors must fill the ${dataBytes} bytes of data, got ${filled}`,
    );
  }
}
