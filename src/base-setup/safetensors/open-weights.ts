import { isUtf8 } from 'node:buffer';
import { dirname, join } from 'node:path';
import { statIfExists } from '../../fs/index.ts';
import { type ByteSource, openByteSource, readFully } from './byte-source.ts';
import { type Header, maxHeaderBytes, readHeader } from './header.ts';
import { JsonCursor } from './json-cursor.ts';
import { quote } from './tensor-info.ts';

/** Hugging Face's file names for the weights in a model folder. */
export const singleFileName = 'model.safetensors';
export const indexFileName = 'model.safetensors.index.json';

/** An open file with a valid header. */
export interface Shard {
  readonly source: ByteSource;
  readonly header: Header;
}

/** Opens all weight files at `path`: a file, an index, or a folder with either. */
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

/** The tensors that the index assigns to each shard, in its order. */
export type ShardIndex = ReadonlyMap<string, readonly string[]>;

/** Reads `weight_map` from a `model.safetensors.index.json`. */
export async function readShardIndex(source: ByteSource): Promise<ShardIndex> {
  const { file, size } = source;
  if (size > maxHeaderBytes) {
    throw new RangeError(
      `Cannot read ${file}: an index must have at most ${maxHeaderBytes} bytes, got ${size}`,
    );
  }
  const bytes = new Uint8Array(size);
  await readFully(source, bytes, { position: 0 });
  if (!isUtf8(bytes)) {
    throw new SyntaxError(`Cannot read ${file}: the index must be UTF-8, got other bytes`);
  }
  return parseShardIndex(new TextDecoder().decode(bytes), file);
}

function parseShardIndex(text: string, file: string): ShardIndex {
  const cursor = new JsonCursor(text, { file, whole: 'the index' });
  const shards = new Map<string, string[]>();
  let hasMap = false;
  cursor.object('it must be an object', (key) => {
    if (key !== 'weight_map') return cursor.skip();
    hasMap = true;
    cursor.object('weight_map must be an object of strings', (tensor) => {
      const shard = cursor.string('weight_map must be an object of strings');
      if (!isFileName(shard)) {
        cursor.subject = `tensor ${quote(tensor)}`;
        cursor.fail('its shard must be a file name within the same folder', quote(shard));
      }
      const tensors = shards.get(shard);
      if (tensors === undefined) shards.set(shard, [tensor]);
      else tensors.push(tensor);
    });
  });
  cursor.end();
  if (!hasMap) cursor.fail('it must have a weight_map', 'none');
  return shards;
}

/** Whether a name stays within its folder on every operating system. */
function isFileName(name: string): boolean {
  return /^[^/\\:\p{Cc}]+$/u.test(name) && name !== '.' && name !== '..';
}
