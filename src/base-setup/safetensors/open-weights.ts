import { dirname, join } from 'node:path';
import { statIfExists } from '../../fs/index.ts';
import { type ByteSource, openByteSource } from './byte-source.ts';
import { type Header, readHeader } from './header.ts';
import { quote } from './quote.ts';
import { readShardIndex, type ShardIndex } from './shard-index.ts';

/** Hugging Face's names of the weights in a model's folder. */
export const singleFileName = 'model.safetensors';
export const indexFileName = 'model.safetensors.index.json';

/** An open file whose header was checked. */
export interface Shard {
  readonly source: ByteSource;
  readonly header: Header;
}

/** Opens all files of the weights at `path`: a file, an index, or a folder with either. */
export async function openWeights(path: string): Promise<readonly Shard[]> {
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

/** One file goes before shards, as in transformers. */
async function findWeights(path: string): Promise<string> {
  const stats = await statIfExists(path);
  if (stats === undefined) {
    throw new Error(
      `Cannot open ${path}: it must be a safetensors file or a folder with one, got nothing there`,
    );
  }
  if (!stats.isDirectory()) return path;
  for (const file of [join(path, singleFileName), join(path, indexFileName)]) {
    if ((await statIfExists(file)) !== undefined) return file;
  }
  throw new Error(
    `Cannot open ${path}: it must hold ${singleFileName} or ${indexFileName}, got neither`,
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

/** Adds the shards that the index names to `shards`, with the tensors that it places there. */
async function openShards(index: string, shards: Shard[]): Promise<void> {
  for (const [name, tensors] of await readIndexFile(index)) {
    const file = join(dirname(index), name);
    if ((await statIfExists(file)) === undefined) {
      throw new Error(
        `Cannot open ${index}: its shard ${quote(name)} must be in the same folder, got none there; download it again`,
      );
    }
    const shard = await openShard(file);
    shards.push(shard);
    const wanted = new Set(tensors);
    const found = shard.header.tensors.filter((info) => wanted.delete(info.name));
    for (const missing of wanted) {
      throw new Error(
        `Cannot open ${index}: tensor ${quote(missing)} must be in shard ${quote(name)}, got none of that name there`,
      );
    }
    shards[shards.length - 1] = { ...shard, header: { ...shard.header, tensors: found } };
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
