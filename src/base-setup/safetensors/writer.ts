import { join } from 'node:path';
import { AtomicFile, statIfExists, writeAtomically } from '../../fs/index.ts';
import type { FloatDtype } from './dtypes.ts';
import { indexFileName, singleFileName } from './open-weights.ts';
import { planShardIndex, planShards } from './shard-plan.ts';
import { type Destination, type TensorStream, writeStream } from './tensor-stream.ts';
import { checkSpecs, planFile, type TensorSpec } from './write-plan.ts';

export interface WriteOptions {
  /** Every tensor that the stream will give. */
  readonly tensors: readonly (Omit<TensorSpec, 'dtype'> & { readonly dtype?: FloatDtype })[];
  /** The values, in any order. */
  readonly stream: TensorStream;
  /** Of the tensors that name none; F32 by default. 16-bit floats are rounded to nearest even. */
  readonly dtype?: FloatDtype;
  /** Added to `format: pt`, which transformers asks for. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ShardedWriteOptions extends WriteOptions {
  /** Bytes of tensors in a shard, 5 GB by default; a larger tensor has a shard of its own. */
  readonly maxShardBytes?: number;
}

/** Writes one safetensors file, which appears when it is complete.
 *  @example
 *  await writeSafetensors('adapter_model.safetensors', {
 *    tensors: [{ name: 'w', shape: [2] }],
 *    stream: [{ name: 'w', shape: [2], data: Float32Array.of(1, 2) }],
 *  }); */
export async function writeSafetensors(path: string, options: WriteOptions): Promise<void> {
  await writeFiles(new Map([[path, resolveSpecs(options)]]), options);
}

/** Writes `model.safetensors`, or, when that would pass `maxShardBytes`, shards and their index
 *  with Hugging Face's names. The index is put in place last. Gives the names of the shards. */
export async function writeShardedSafetensors(
  folder: string,
  { maxShardBytes = 5e9, ...options }: ShardedWriteOptions,
): Promise<readonly string[]> {
  const shards = planShards(resolveSpecs(options), maxShardBytes);
  const index = shards.size > 1 ? planShardIndex(shards) : undefined;
  const single = join(folder, singleFileName);
  if (index !== undefined && (await statIfExists(single)) !== undefined) {
    throw new Error(
      `Cannot write shards to ${folder}: it must hold no ${singleFileName}, which readers prefer to shards, got one; remove it`,
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

/** Writes files to completion, then puts all of them in place. */
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
