import { type ByteSource, bytesInMemory, readFully } from './byte-source.ts';
import { decodeBfloat16, decodeFloat16 } from './float16.ts';
import { type Header, readHeader } from './header.ts';
import { countElements, floatDtypes, isFloatDtype, quote, type TensorInfo } from './tensor-info.ts';

/** An open file with a valid header. */
export interface Shard {
  readonly source: ByteSource;
  readonly header: Header;
}

/** Weights in a safetensors file or in shards; each tensor is read on demand. `openSafetensors`
 *  opens files. */
export class SafetensorsReader {
  /** All tensors, by shard and then by position. */
  readonly tensors: readonly TensorInfo[];
  /** The merged `__metadata__` of all shards. */
  readonly metadata: ReadonlyMap<string, string>;
  /** The file, index or folder that was opened. */
  readonly path: string;
  private readonly sources: readonly ByteSource[];
  private readonly entries: ReadonlyMap<string, { info: TensorInfo; source: ByteSource }>;

  /** Reads weights from the bytes of one safetensors file.
   *  @param file what errors call it */
  static async fromBytes(bytes: Uint8Array, file: string): Promise<SafetensorsReader> {
    const source = bytesInMemory(bytes, file);
    return new SafetensorsReader(file, [{ source, header: await readHeader(source) }]);
  }

  constructor(path: string, shards: readonly Shard[]) {
    const entries = shards.flatMap(({ source, header }) =>
      header.tensors.map((info) => [info.name, { info, source }] as const),
    );
    this.path = path;
    this.sources = shards.map(({ source }) => source);
    this.tensors = entries.map(([, { info }]) => info);
    this.metadata = new Map(shards.flatMap(({ header }) => [...header.metadata]));
    this.entries = new Map(entries);
  }

  /** Whether a tensor of this name is in the files. */
  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** Dtype, shape and position of a tensor; an ONNX model can use it as external data. */
  info(name: string): TensorInfo {
    return this.find(name).info;
  }

  /** Reads the values of an F32, F16 or BF16 tensor into a new array. */
  async read(name: string): Promise<Float32Array> {
    const target = new Float32Array(checkFloat32(this.info(name)));
    await this.readInto(name, target);
    return target;
  }

  /** Reads the values of an F32, F16 or BF16 tensor into the caller's memory. */
  async readInto(name: string, target: Float32Array): Promise<void> {
    const { info, source } = this.find(name);
    await readFloat32Into(source, { info, target });
  }

  /** Reads the raw bytes of a tensor of any dtype. */
  async readBytes(name: string): Promise<Uint8Array> {
    const { info, source } = this.find(name);
    const bytes = new Uint8Array(info.length);
    await readFully(source, bytes, { position: info.offset });
    return bytes;
  }

  /** Closes the files. */
  async close(): Promise<void> {
    await Promise.all(this.sources.map((source) => source.close()));
  }

  private find(name: string) {
    const entry = this.entries.get(name);
    if (entry !== undefined) return entry;
    throw new RangeError(
      `Cannot read tensor ${quote(name)} of ${this.path}: it must be one of the ${this.entries.size} tensors there, got no such name`,
    );
  }
}

/** 16-bit elements that are read while the previous chunk is decoded. */
const chunkElements = 2 ** 18;

/** Fills `target` with the tensor's values without extra memory: F32 bytes are read in place; 16-bit
 *  floats are read into the last half of each chunk of `target` and decoded there. */
export async function readFloat32Into(
  source: ByteSource,
  { info, target }: { readonly info: TensorInfo; readonly target: Float32Array },
): Promise<void> {
  const { dtype, offset: position } = info;
  const elements = checkFloat32(info);
  if (target.length !== elements) {
    throw new RangeError(
      `Cannot read tensor ${quote(info.name)} of ${info.file}: target must have ${elements} elements, got ${target.length}`,
    );
  }
  if (dtype === 'F32') return readFully(source, target, { position });
  const decode = dtype === 'BF16' ? decodeBfloat16 : decodeFloat16;
  let next = readChunk(0);
  for (let start = 0; start < elements; start += chunkElements) {
    const { halves, floats } = await next;
    next = readChunk(start + chunkElements);
    decode(halves, floats);
  }

  async function readChunk(start: number) {
    const floats = target.subarray(start, start + chunkElements);
    const { buffer, byteOffset, length } = floats;
    const halves = new Uint16Array(buffer, byteOffset + 2 * length, length);
    await readFully(source, halves, { position: position + 2 * start });
    return { halves, floats };
  }
}

/** Checks that a tensor can be read as float32; returns its number of elements. */
function checkFloat32({ name, file, dtype, shape }: TensorInfo): number {
  if (isFloatDtype(dtype)) return countElements(shape);
  throw new TypeError(
    `Cannot read tensor ${quote(name)} of ${file} as float32: dtype must be ${floatDtypes.join(', ')}, got ${dtype}; read its bytes instead`,
  );
}
