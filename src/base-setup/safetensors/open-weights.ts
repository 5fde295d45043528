import { open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { statIfExists } from '../../fs/index.ts';
import type { ByteSource } from './byte-source.ts';
import { indexFileName, readHeader, singleFileName } from './header.ts';
import { SafetensorsReader, type Shard } from './reader.ts';
import { readShardIndex, type ShardIndex } from './shard-index.ts';
import { quote } from './tensor-info.ts';

/** Opens the weights in a file, an index, or a folder with `model.safetensors` or its index, and checks
 *  every header. An index decides which tensors of its shards are used.
 *  @example
 *  const weights = await openSafetensors('qwen3-0.6b');
 *  const norm = await weights.read('model.norm.weight');
 *  await weights.close(); */
export async function openSafetensors(path: string): Promise<SafetensorsReader> {
  return new SafetensorsReader(path, await openWeights(path));
}

/** Opens a file; rejects folders, pipes and devices, which could block. */
export async function openByteSource(file: string): Promise<ByteSource> {
  if (!(await stat(file)).isFile()) {
    throw new TypeError(`Cannot read ${file}: it must be a regular file`);
  }
  const handle = await open(file, 'r');
  return {
    file,
    size: (await handle.stat()).size,
    read: async (view, position) =>
      (await handle.read(view, 0, view.byteLength, position)).bytesRead,
    close: () => handle.close(),
  };
}

/** Opens all weight files at `path`: a file, an index, or a folder with either. */
async function openWeights(path: string): Promise<readonly Shard[]> {
  const file = await findWeights(path);
  const shards: Shard[] = [];
  try {
    if (file.endsWith('.index.json')) await openShards(file, shards);
    else shards.push(await openShard(file));
    return shards;
  } catch (error) {
    await Promise.all(shards.map(({ source }) => source.close()));
    throw error;
  }
}

/** A single file takes precedence over shards, as in transformers. */
async function findWeights(path: string): Promise<string> {
  const stats = await statIfExists(path);
  if (stats === undefined) {
    throw new Error(
      `Cannot open ${path}: it must be a safetensors file or a folder with one, got no such path`,
    );
  }
  if (!stats.isDirectory()) return path;
  for (const file of [join(path, singleFileName), join(path, indexFileName)]) {
    if ((await statIfExists(file)) !== undefined) return file;
  }
  throw new Error(
    `Cannot open ${path}: it must contain ${singleFileName} or ${indexFileName}, got neither`,
  );
}

async function openShard(file: string): Promise<Shard> {
  const source = await openByteSource(file);
  try {
    return { source, header: await readHeader(source) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Adds the shards of an index to `shards`, each with the tensors that the index assigns to it. */
async function openShards(index: string, shards: Shard[]): Promise<void> {
  for (const [shardName, tensors] of await readIndexFile(index)) {
    const file = join(dirname(index), shardName);
    if ((await statIfExists(file)) === undefined) {
      throw new Error(
        `Cannot open ${index}: its shard ${quote(shardName)} must be in the same folder, got no such file; download it again`,
      );
    }
    const shard = await openShard(file);
    shards.push(shard);
    const missing = new Set(tensors);
    const assigned = shard.header.tensors.filter((info) => missing.delete(info.name));
    for (const name of missing) {
      throw new Error(
        `Cannot open ${index}: tensor ${quote(name)} must be in shard ${quote(shardName)}, got no such tensor`,
      );
    }
    shards[shards.length - 1] = { ...shard, header: { ...shard.header, tensors: assigned } };
  }
}

async function readIndexFile(file: string): Promise<ShardIndex> {
  const source = await openByteSource(file);
  try {
    return await readShardIndex(source);
  } finally {
    await source.close();
  }
}
