import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeSafetensors, writeShardedSafetensors } from './index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'safetensors-'));
});
afterEach(() => rm(folder, { recursive: true }));

const of = (name: string, ...values: number[]) => ({
  name,
  shape: [values.length],
  data: Float32Array.from(values),
});

describe('a write that fails', () => {
  const tensors = [of('a', 1, 2), of('b', 3)];
  const cases: [string, Parameters<typeof writeSafetensors>[1], string][] = [
    [
      'a tensor that was not announced',
      { tensors, stream: [of('c', 1)] },
      'tensor "c": each announced tensor must come once, got one that was not announced',
    ],
    [
      'a tensor that comes twice',
      { tensors, stream: [of('b', 3), of('b', 3)] },
      'tensor "b": each announced tensor must come once, got it twice',
    ],
    [
      'a tensor that does not come',
      { tensors, stream: [of('b', 3)] },
      'tensor "a": each announced tensor must come once, got no data',
    ],
    [
      'another shape',
      { tensors, stream: [of('b', 3, 4)] },
      'tensor "b": its shape must be [1] as announced, got [2]',
    ],
    [
      'another number of values',
      { tensors, stream: [{ ...of('b', 3, 4), shape: [1] }] },
      'tensor "b": [1] must have 1 elements, got 2',
    ],
    [
      'a name that is used twice',
      { tensors: [...tensors, ...tensors], stream: [] },
      'tensor "a": its name must be used once, got it twice',
    ],
    [
      'the name of the metadata',
      { tensors: [of('__metadata__', 1)], stream: [] },
      'tensor "__metadata__": its name must not be the key of metadata, got "__metadata__"',
    ],
    [
      'a name that is not Unicode',
      { tensors: [of('\ud800', 1)], stream: [] },
      'tensor "\\ud800": its name must be Unicode, got half a surrogate pair',
    ],
    [
      'a dtype that is not written',
      { tensors: [{ ...of('a', 1), dtype: 'I64' as 'F32' }], stream: [] },
      'tensor "a": dtype must be F32, F16, BF16, got I64',
    ],
    [
      'a negative dim',
      { tensors: [{ name: 'a', shape: [-1] }], stream: [] },
      'tensor "a": shape must be whole numbers ≥ 0, got [-1]',
    ],
    [
      'too many dims',
      { tensors: [{ name: 'a', shape: Array(65).fill(1) }], stream: [] },
      'tensor "a": shape must have at most 64 dims, got [1, 1, 1, 1, 1, 1, 1, 1, … 65 in all]',
    ],
    [
      'too many elements',
      { tensors: [{ name: 'a', shape: [2 ** 30, 2 ** 30] }], stream: [] },
      'tensor "a": shape must have fewer than 2^53 bytes, got [1073741824, 1073741824]',
    ],
  ];

  test.each(cases)('leaves the old file as it was: %s', async (_, options, message) => {
    const path = join(folder, 'w.safetensors');
    await writeFile(path, 'old');
    const error = new RangeError(`Cannot write ${message}`);
    await expect(writeSafetensors(path, options)).rejects.toThrow(error);
    expect(await readFile(path, 'utf8')).toBe('old');
    await expect(writeShardedSafetensors(folder, { ...options, maxShardBytes: 4 })).rejects.toThrow(
      error,
    );
    expect(await readdir(folder)).toEqual(['w.safetensors']);
  });

  test.each([
    ['\ud800', '"\\ud800"'],
    [7 as unknown as string, 'number'],
  ])('refuses metadata that is no text: %j', async (value, got) => {
    const path = join(folder, 'w.safetensors');
    await expect(
      writeSafetensors(path, { tensors: [], stream: [], metadata: { step: value } }),
    ).rejects.toThrow(
      new TypeError(`Cannot write safetensors: metadata "step" must be Unicode text, got ${got}`),
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('passes on what its stream throws, and leaves nothing', async () => {
    async function* stream() {
      yield of('a', 1, 2);
      throw new Error('no more');
    }
    const path = join(folder, 'w.safetensors');
    await expect(writeSafetensors(path, { tensors, stream: stream() })).rejects.toThrow('no more');
    expect(await readdir(folder)).toEqual([]);
  });
});

test('writeShardedSafetensors() refuses a folder whose single file would hide the shards', async () => {
  const tensors = [of('a', 1, 2), of('b', 3)];
  await writeShardedSafetensors(folder, { tensors, stream: tensors });
  await expect(
    writeShardedSafetensors(folder, { tensors, stream: tensors, maxShardBytes: 8 }),
  ).rejects.toThrow(
    new Error(
      `Cannot write shards to ${folder}: it must hold no model.safetensors, which readers prefer to shards, got one; remove it`,
    ),
  );
  expect(await readdir(folder)).toEqual(['model.safetensors']);
});
