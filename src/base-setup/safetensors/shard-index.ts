import { type ByteSource, readFully } from './byte-source.ts';
import { decodeUtf8, maxHeaderBytes } from './header.ts';
import { JsonCursor } from './json-cursor.ts';
import { quote } from './tensor-info.ts';

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
  return parseShardIndex(decodeUtf8(bytes, { file, what: 'the index' }), file);
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
