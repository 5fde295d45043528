import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFile } from '../../../test/fixtures/safetensors/make-file.ts';
import { openSafetensors } from './open-weights.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'safetensors-'));
});
afterEach(() => rm(folder, { recursive: true }));

const indexName = 'model.safetensors.index.json';
const shardOf = (name: string) =>
  makeFile({
    header: { [name]: { dtype: 'U8', shape: [1], data_offsets: [0, 1] } },
    data: Uint8Array.of(7),
  });
const openWith = async (index: unknown) => {
  const text = typeof index === 'string' ? index : JSON.stringify(index);
  await writeFile(join(folder, indexName), text);
  return openSafetensors(folder);
};

test('open() prefers a single file, and reads only the tensors of the index', async () => {
  await writeFile(join(folder, '1.safetensors'), shardOf('a'));
  await writeFile(join(folder, '2.safetensors'), shardOf('a'));
  const metadata = { total_size: 1.5, nested: [{ x: null }] };
  const sharded = await openWith({ metadata, weight_map: { a: '2.safetensors' } });
  expect(sharded.tensors.map(({ file }) => file)).toEqual([join(folder, '2.safetensors')]);
  await sharded.close();
  await writeFile(join(folder, 'model.safetensors'), shardOf('b'));
  const single = await openSafetensors(folder);
  expect(single.tensors.map(({ name }) => name)).toEqual(['b']);
  await single.close();
});

test('open() rejects a missing path and a folder without weights', async () => {
  const nowhere = join(folder, 'nowhere');
  await expect(openSafetensors(nowhere)).rejects.toThrow(
    new Error(
      `Cannot open ${nowhere}: it must be a safetensors file or a folder with one, got no such path`,
    ),
  );
  await expect(openSafetensors(folder)).rejects.toThrow(
    new Error(
      `Cannot open ${folder}: it must contain model.safetensors or ${indexName}, got neither`,
    ),
  );
});

test.each([
  ['[]', 'the index: it must be an object, got a list'],
  ['{"weight_map":{}', 'the index must be JSON, got the end at character 16'],
  ['{"metadata":{}}', 'the index: it must have a weight_map, got none'],
  ['{"weight_map":7}', 'the index: weight_map must be an object of strings, got 7'],
  ['{"weight_map":{"a":[]}}', 'the index: weight_map must be an object of strings, got a list'],
  ['{"weight_map":{"a":"1","a":"2"}}', 'the index: a key must be unique, got "a" twice'],
])('open() rejects the index %s', async (text, message) => {
  await expect(openWith(text)).rejects.toThrow(
    new SyntaxError(`Cannot read ${join(folder, indexName)}: ${message}`),
  );
});

test.each(['../w.safetensors', '/etc/passwd', '..', '.', '', 'a/b', 'C:\\w', '..\\w', 'a\0b'])(
  'open() rejects the shard %j, which is not a file name',
  async (shard) => {
    await expect(openWith({ weight_map: { a: shard } })).rejects.toThrow(
      new SyntaxError(
        `Cannot read ${join(folder, indexName)}: tensor "a": its shard must be a file name within the same folder, got ${JSON.stringify(shard)}`,
      ),
    );
  },
);

test('open() rejects a missing shard', async () => {
  await writeFile(join(folder, '1.safetensors'), shardOf('a'));
  await expect(
    openWith({ weight_map: { a: '1.safetensors', b: '2.safetensors' } }),
  ).rejects.toThrow(
    new Error(
      `Cannot open ${join(folder, indexName)}: its shard "2.safetensors" must be in the same folder, got no such file; download it again`,
    ),
  );
});

test('open() rejects a shard that lacks a tensor of the index', async () => {
  await writeFile(join(folder, '1.safetensors'), shardOf('a'));
  await expect(
    openWith({ weight_map: { a: '1.safetensors', b: '1.safetensors' } }),
  ).rejects.toThrow(
    new Error(
      `Cannot open ${join(folder, indexName)}: tensor "b" must be in shard "1.safetensors", got no such tensor`,
    ),
  );
});

test('open() rejects a shard that is a folder', async () => {
  const shard = join(folder, '1.safetensors');
  await mkdir(shard);
  await expect(openWith({ weight_map: { a: '1.safetensors' } })).rejects.toThrow(
    new TypeError(`Cannot read ${shard}: it must be a regular file`),
  );
});
