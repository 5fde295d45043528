import { join } from 'node:path';
import { AtomicFile, statIfExists, writeAtomically } from '../../fs/index.ts';
import { indexFileName, singleFileName } from './header.ts';
import { planShardIndex, planShards, type TensorSpec } from './write-plan.ts';
import {
  type Destination,
  planTensors,
  resolveSpecs,
  type WriteOptions,
  writeStream,
} from './writer.ts';

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

/** Writes all files completely, then renames them to their final names. */
async function writeFiles(
  contents: ReadonlyMap<string, readonly TensorSpec[]>,
  options: WriteOptions,
): Promise<void> {
  const files: AtomicFile[] = [];
  const destinations = new Map<string, Destination>();
  try {
    for (const [path, specs] of contents) {
      const { head, slots } = planTensors(specs, options);
      const file = await AtomicFile.create(path);
      files.push(file);
      await file.write(head, 0);
      for (const slot of slots) destinations.set(slot.name, { file, slot });
    }
    await writeStream(options.stream, destinations);
    for (const file of files) await file.finish();
    for (const file of files) await file.commit();
  } finally {
    for (const file of files) await file.discard();
  }
}
