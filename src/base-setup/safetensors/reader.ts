import { type ByteSource, readFully } from './byte-source.ts';
import { openWeights, type Shard } from './open-weights.ts';
import { quote } from './quote.ts';
import { checkFloat32, readFloat32Into } from './tensor-data.ts';
import type { TensorInfo } from './tensor-info.ts';

/** Weights in a safetensors file or in shards; each tensor is read when it is asked for.
 *  @example
 *  const weights = await SafetensorsReader.open('qwen3-0.6b');
 *  const norm = await weights.read('model.norm.weight');
 *  await weights.close(); */
export class SafetensorsReader {
  /** Shard by shard, in the order of their bytes. */
  readonly tensors: readonly TensorInfo[];
  /** `__metadata__` of all shards together. */
  readonly metadata: ReadonlyMap<string, string>;
  private readonly path: string;
  private readonly sources: readonly ByteSource[];
  private readonly places: ReadonlyMap<string, { info: TensorInfo; source: ByteSource }>;

  /** Opens a file, an index, or a folder with `model.safetensors` or its index, and checks every
   *  header. Where there is an index, it decides which tensors of the shards count. */
  static async open(path: string): Promise<SafetensorsReader> {
    return new SafetensorsReader(path, await openWeights(path));
  }

  private constructor(path: string, shards: readonly Shard[]) {
    const places = shards.flatMap(({ source, header }) =>
      header.tensors.map((info) => [info.name, { info, source }] as const),
    );
    this.path = path;
    this.sources = shards.map(({ source }) => source);
    this.tensors = places.map(([, { info }]) => info);
    this.metadata = new Map(shards.flatMap(({ header }) => [...header.metadata]));
    this.places = new Map(places);
  }

  has(name: string): boolean {
    return this.places.has(name);
  }

  /** Dtype, shape and place of a tensor; the place serves as external data of an ONNX model. */
  info(name: string): TensorInfo {
    return this.find(name).info;
  }

  /** The values of an F32, F16 or BF16 tensor in a new array. */
  async read(name: string): Promise<Float32Array> {
    const target = new Float32Array(checkFloat32(this.info(name)));
    await this.readInto(name, target);
    return target;
  }

  /** The values of an F32, F16 or BF16 tensor in the caller's memory. */
  async readInto(name: string, target: Float32Array): Promise<void> {
    const { info, source } = this.find(name);
    await readFloat32Into(source, { info, target });
  }

  /** The bytes of a tensor of any dtype, as they are in the file. */
  async readBytes(name: string): Promise<Uint8Array> {
    const { info, source } = this.find(name);
    const bytes = new Uint8Array(info.length);
    await readFully(source, bytes, { position: info.offset });
    return bytes;
  }

  async close(): Promise<void> {
    await Promise.all(this.sources.map((source) => source.close()));
  }

  private find(name: string) {
    const place = this.places.get(name);
    if (place !== undefined) return place;
    throw new RangeError(
      `Cannot read tensor ${quote(name)} of ${this.path}: it must be one of the ${this.places.size} tensors there, got none of that name`,
    );
  }
}
