import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SafetensorsReader, writeSafetensors, writeShardedSafetensors } from './index.ts';
import { openSafetensors } from './open-weights.ts';
import { floatDtypes } from './tensor-info.ts';

const fixtures = fileURLToPath(new URL('../../../test/fixtures/safetensors/', import.meta.url));

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

/** The tensors of a fixture, to write again. */
async function* readAll(weights: SafetensorsReader, names: readonly string[]) {
  for (const name of names) {
    yield { name, shape: weights.info(name).shape, data: await weights.read(name) };
  }
}

test('writeSafetensors() writes the same bytes as Python for any order of tensors', async () => {
  const weights = await openSafetensors(join(fixtures, 'floats.safetensors'));
  const tensors = weights.tensors.map(({ name, shape, dtype }) => {
    return { name, shape, dtype: floatDtypes.find((float) => float === dtype)! };
  });
  const names = tensors.map(({ name }) => name).sort();
  const path = join(folder, 'w.safetensors');
  await writeSafetensors(path, { tensors: tensors.reverse(), stream: readAll(weights, names) });
  await weights.close();
  expect(tensors.length).toBe(18);
  expect(await readFile(path)).toEqual(await readFile(join(fixtures, 'floats.safetensors')));
});

test('writeShardedSafetensors() writes the same files as huggingface_hub', async () => {
  const weights = await openSafetensors(join(fixtures, 'sharded'));
  const tensors = weights.tensors.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = tensors.map(({ name }) => name).reverse();
  const shards = await writeShardedSafetensors(folder, {
    tensors: tensors.map(({ name, shape }) => ({ name, shape })),
    stream: readAll(weights, names),
    maxShardBytes: 100,
  });
  await weights.close();
  const files = (await readdir(join(fixtures, 'sharded'))).sort();
  expect((await readdir(folder)).sort()).toEqual(files);
  expect([...shards, 'model.safetensors.index.json']).toEqual(files);
  for (const file of files) {
    expect(await readFile(join(folder, file))).toEqual(
      await readFile(join(fixtures, 'sharded', file)),
    );
  }
});

test('reading returns the names, shapes, dtypes, metadata and values that were written', async () => {
  const name = fc
    .string({ unit: 'binary', maxLength: 12 })
    .filter((text) => text !== '__metadata__');
  const tensor = fc
    .tuple(fc.array(fc.nat(4), { maxLength: 4 }), fc.constantFrom(...floatDtypes))
    .chain(([shape, dtype]) => {
      const length = shape.reduce((product, dim) => product * dim, 1);
      // Small whole numbers are exact in every dtype.
      const value = fc.oneof(
        fc.integer({ min: -128, max: 128 }),
        fc.constantFrom(NaN, Infinity, -0),
      );
      const data = fc.array(value, { minLength: length, maxLength: length });
      return fc.record({ shape: fc.constant(shape), dtype: fc.constant(dtype), data });
    });
  const tensors = fc.dictionary(name, tensor, { noNullPrototype: true });
  const metadata = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), {
    noNullPrototype: true,
  });
  const maxShardBytes = fc.integer({ min: 1, max: 2000 });
  const property = fc.asyncProperty(tensors, metadata, maxShardBytes, async (all, pairs, limit) => {
    const entries = Object.entries(all).map(([name, { data, ...rest }]) => {
      return { name, ...rest, data: Float32Array.from(data) };
    });
    const inner = await mkdtemp(join(folder, 'run-'));
    await writeShardedSafetensors(inner, {
      tensors: entries,
      stream: entries.toReversed(),
      metadata: pairs,
      maxShardBytes: limit,
    });
    const weights = await openSafetensors(inner);
    expect(weights.tensors.length).toBe(entries.length);
    for (const { name, shape, dtype, data } of entries) {
      expect(weights.info(name)).toMatchObject({ shape, dtype });
      expect(await weights.read(name)).toEqual(data);
    }
    expect(Object.fromEntries(weights.metadata)).toEqual({ format: 'pt', ...pairs });
    await weights.close();
  });
  await fc.assert(property, { numRuns: 100 });
}, 60_000);

test('writeSafetensors() rounds to the requested dtype', async () => {
  const path = join(folder, 'w.safetensors');
  const w = of('w', 1 + 2 ** -8, 1 + 3 * 2 ** -8, 70000);
  const written = async (dtype: 'F16' | 'BF16') => {
    await writeSafetensors(path, { tensors: [w], stream: [w], dtype });
    const weights = await openSafetensors(path);
    const values = [...(await weights.read('w'))];
    await weights.close();
    return values;
  };
  expect(await written('BF16')).toEqual([1, 1 + 2 ** -6, 70144]);
  expect(await written('F16')).toEqual([1 + 2 ** -8, 1 + 3 * 2 ** -8, Infinity]);
});

test('writeSafetensors() writes many chunks from one reused array', async () => {
  const path = join(folder, 'w.safetensors');
  const [shape, data] = [[1500, 1000], new Float32Array(1_500_000)];
  function* stream() {
    for (const [k, name] of ['a', 'b'].entries()) {
      for (let i = 0; i < data.length; i++) data[i] = (i % 251) + k;
      yield { name, shape, data };
    }
  }
  const tensors = ['a', 'b'].map((name) => ({ name, shape }));
  await writeSafetensors(path, { tensors, stream: stream(), dtype: 'BF16' });
  const weights = await openSafetensors(path);
  const [a, b] = [await weights.read('a'), await weights.read('b')];
  await weights.close();
  expect(a.findIndex((value, i) => value !== i % 251)).toBe(-1);
  expect(b.findIndex((value, i) => value !== (i % 251) + 1)).toBe(-1);
});

describe('a write that fails', () => {
  const tensors = [of('a', 1, 2), of('b', 3)];
  const cases: [string, Parameters<typeof writeSafetensors>[1], string][] = [
    [
      'a tensor that was not announced',
      { tensors, stream: [of('c', 1)] },
      'tensor "c": each announced tensor must be streamed once, got one that was not announced',
    ],
    [
      'a duplicate tensor in the stream',
      { tensors, stream: [of('b', 3), of('b', 3)] },
      'tensor "b": each announced tensor must be streamed once, got it twice',
    ],
    [
      'a tensor missing from the stream',
      { tensors, stream: [of('b', 3)] },
      'tensor "a": each announced tensor must be streamed once, got no data',
    ],
    [
      'a wrong shape',
      { tensors, stream: [of('b', 3, 4)] },
      'tensor "b": its shape must be [1] as announced, got [2]',
    ],
    [
      'a wrong number of values',
      { tensors, stream: [{ ...of('b', 3, 4), shape: [1] }] },
      'tensor "b": [1] must have 1 elements, got 2',
    ],
    [
      'a duplicate name',
      { tensors: [...tensors, ...tensors], stream: [] },
      'tensor "a": its name must be unique, got it twice',
    ],
    [
      'the metadata key as a name',
      { tensors: [of('__metadata__', 1)], stream: [] },
      'tensor "__metadata__": its name must not be the key of metadata, got "__metadata__"',
    ],
    [
      'a name that is not Unicode',
      { tensors: [of('\ud800', 1)], stream: [] },
      'tensor "\\ud800": its name must be Unicode, got a lone surrogate',
    ],
    [
      'an unsupported dtype',
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
      'tensor "a": shape must have at most 64 dims, got [1, 1, 1, 1, 1, 1, 1, 1, … 65 in total]',
    ],
    [
      'too many elements',
      { tensors: [{ name: 'a', shape: [2 ** 30, 2 ** 30] }], stream: [] },
      'tensor "a": shape must have fewer than 2^53 bytes, got [1073741824, 1073741824]',
    ],
  ];

  test.each(cases)('leaves the old file unchanged: %s', async (_, options, message) => {
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
  ])('rejects metadata that is not text: %j', async (value, got) => {
    const path = join(folder, 'w.safetensors');
    await expect(
      writeSafetensors(path, { tensors: [], stream: [], metadata: { step: value } }),
    ).rejects.toThrow(
      new TypeError(`Cannot write safetensors: metadata "step" must be Unicode text, got ${got}`),
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('rethrows an error of its stream and leaves no file', async () => {
    async function* stream() {
      yield of('a', 1, 2);
      throw new Error('no more');
    }
    const path = join(folder, 'w.safetensors');
    await expect(writeSafetensors(path, { tensors, stream: stream() })).rejects.toThrow('no more');
    expect(await readdir(folder)).toEqual([]);
  });
});

test('writeShardedSafetensors() rejects a folder whose single file would hide the shards', async () => {
  const tensors = [of('a', 1, 2), of('b', 3)];
  await writeShardedSafetensors(folder, { tensors, stream: tensors });
  await expect(
    writeShardedSafetensors(folder, { tensors, stream: tensors, maxShardBytes: 8 }),
  ).rejects.toThrow(
    new Error(
      `Cannot write shards to ${folder}: it must not contain model.safetensors, which readers would load instead of the shards, got one; remove it`,
    ),
  );
  expect(await readdir(folder)).toEqual(['model.safetensors']);
});
