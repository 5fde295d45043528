import { join } from 'node:path';
import { AtomicFile, statIfExists, writeAtomically } from '../../fs/index.ts';
import { encodeBfloat16, encodeFloat16 } from './float16.ts';
import { indexFileName, singleFileName } from './open-weights.ts';
import { type FloatDtype, quote, showList } from './tensor-info.ts';
import {
  checkSpecs,
  planFile,
  planShardIndex,
  planShards,
  type Slot,
  type TensorSpec,
} from './write-plan.ts';

/** Tensors to write, their values and their dtype. */
export interface WriteOptions {
  /** Every tensor that the stream will yield. */
  readonly tensors: readonly (Omit<TensorSpec, 'dtype'> & { readonly dtype?: FloatDtype })[];
  /** The values, in any order. */
  readonly stream: TensorStream;
  /** The dtype of tensors that do not set one; F32 by default. 16-bit floats are rounded to nearest even. */
  readonly dtype?: FloatDtype;
  /** Added to `format: pt`, which transformers requires. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Tensors to write and the maximum size of a shard. */
export interface ShardedWriteOptions extends WriteOptions {
  /** Tensor bytes per shard, 5 GB by default; a larger tensor gets its own shard. */
  readonly maxShardBytes?: number;
}

/** Writes one safetensors file, which appears only once it is complete.
 *  @example
 *  await writeSafetensors('adapter_model.safetensors', {
 *    tensors: [{ name: 'w', shape: [2] }],
 *    stream: [{ name: 'w', shape: [2], data: Float32Array.of(1, 2) }],
 *  }); */
export async function writeSafetensors(path: string, options: WriteOptions): Promise<void> {
  await writeFiles(new Map([[path, resolveSpecs(options)]]), options);
}

/** Writes `model.safetensors`, or shards and an index with Hugging Face's names if it would exceed
 *  `maxShardBytes`. The index is written last. Returns the names of the shards. */
export async function writeShardedSafetensors(
  folder: string,
  { maxShardBytes = 5e9, ...options }: ShardedWriteOptions,
): Promise<readonly string[]> {
  const shards = planShards(resolveSpecs(options), maxShardBytes);
  const index = shards.size > 1 ? planShardIndex(shards) : undefined;
  const single = join(folder, singleFileName);
  if (index !== undefined && (await statIfExists(single)) !== undefined) {
    throw new Error(
      `Cannot write shards to ${folder}: it must not contain ${singleFileName}, which readers would load instead of the shards, got one; remove it`,
    );
  }
  const files = [...shards].map(([name, specs]) => [join(folder, name), specs] as const);
  await writeFiles(new Map(files), options);
  if (index !== undefined) await writeAtomically(join(folder, indexFileName), index);
  return [...shards.keys()];
}

function resolveSpecs({ tensors, dtype = 'F32' }: WriteOptions): readonly TensorSpec[] {
  const specs = tensors.map((spec) => ({ ...spec, dtype: spec.dtype ?? dtype }));
  checkSpecs(specs);
  return specs;
}

/** Writes all files completely, then renames them to their final names. */
async function writeFiles(
  contents: ReadonlyMap<string, readonly TensorSpec[]>,
  { stream, metadata }: WriteOptions,
): Promise<void> {
  const files: AtomicFile[] = [];
  const destinations = new Map<string, Destination>();
  try {
    for (const [path, specs] of contents) {
      const { head, slots } = planFile(specs, { format: 'pt', ...metadata });
      const file = await AtomicFile.create(path);
      files.push(file);
      await file.write(head, 0);
      for (const slot of slots) destinations.set(slot.name, { file, slot });
    }
    await writeStream(stream, destinations);
    for (const file of files) await file.finish();
    for (const file of files) await file.commit();
  } finally {
    for (const file of files) await file.discard();
  }
}

/** A tensor with its values. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Tensors one after another. The next is requested after the previous one is written, so the source
 *  may reuse one array for all. */
export type TensorStream = Iterable<NamedTensor> | AsyncIterable<NamedTensor>;

/** Where a tensor is written. */
interface Destination {
  readonly file: AtomicFile;
  readonly slot: Slot;
}

/** Elements that are encoded at a time. */
const chunkElements = 2 ** 20;

/** Writes each tensor of the stream to its position; each must come once, in any order. */
async function writeStream(
  stream: TensorStream,
  destinations: ReadonlyMap<string, Destination>,
): Promise<void> {
  const pending = new Map(destinations);
  const halves = new Uint16Array(chunkElements);
  for await (const tensor of stream) {
    const destination = pending.get(tensor.name);
    if (destination === undefined) {
      const got = destinations.has(tensor.name) ? 'it twice' : 'one that was not announced';
      throw new RangeError(
        `Cannot write tensor ${quote(tensor.name)}: each announced tensor must be streamed once, got ${got}`,
      );
    }
    checkTensor(tensor, destination.slot);
    await writeTensor(tensor.data, { ...destination, halves });
    pending.delete(tensor.name);
  }
  for (const name of pending.keys()) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: each announced tensor must be streamed once, got no data`,
    );
  }
}

function checkTensor({ name, shape, data }: NamedTensor, slot: Slot): void {
  if (shape.length !== slot.shape.length || shape.some((dim, i) => dim !== slot.shape[i])) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: its shape must be ${showList(slot.shape)} as announced, got ${showList(shape)}`,
    );
  }
  if (data.length !== slot.elements) {
    throw new RangeError(
      `Cannot write tensor ${quote(name)}: ${showList(shape)} must have ${slot.elements} elements, got ${data.length}`,
    );
  }
}

async function writeTensor(
  data: Float32Array,
  { file, slot, halves }: Destination & { readonly halves: Uint16Array },
): Promise<void> {
  if (slot.dtype === 'F32') return file.write(data, slot.position);
  const encode = slot.dtype === 'BF16' ? encodeBfloat16 : encodeFloat16;
  for (let start = 0; start < data.length; start += chunkElements) {
    const floats = data.subarray(start, start + chunkElements);
    const piece = halves.subarray(0, floats.length);
    encode(floats, piece);
    await file.write(piece, slot.position + 2 * start);
  }
}
