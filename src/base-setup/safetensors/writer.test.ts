import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { floatDtypes } from './dtypes.ts';
import { SafetensorsReader, writeSafetensors, writeShardedSafetensors } from './index.ts';

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

/** The tensors of a fixture, to be written again. */
async function* readAll(weights: SafetensorsReader, names: readonly string[]) {
  for (const name of names) {
    yield { name, shape: weights.info(name).shape, data: await weights.read(name) };
  }
}

test('writeSafetensors() writes the same bytes as Python, in whatever order tensors come', async () => {
  const weights = await SafetensorsReader.open(join(fixtures, 'floats.safetensors'));
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
  const weights = await SafetensorsReader.open(join(fixtures, 'sharded'));
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

test('what is written is read again: names, shapes, dtypes, metadata, values', async () => {
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
    const weights = await SafetensorsReader.open(inner);
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

test('writeSafetensors() rounds to the dtype that is asked for', async () => {
  const path = join(folder, 'w.safetensors');
  const w = of('w', 1 + 2 ** -8, 1 + 3 * 2 ** -8, 70000);
  const written = async (dtype: 'F16' | 'BF16') => {
    await writeSafetensors(path, { tensors: [w], stream: [w], dtype });
    const weights = await SafetensorsReader.open(path);
    const values = [...(await weights.read('w'))];
    await weights.close();
    return values;
  };
  expect(await written('BF16')).toEqual([1, 1 + 2 ** -6, 70144]);
  expect(await written('F16')).toEqual([1 + 2 ** -8, 1 + 3 * 2 ** -8, Infinity]);
});

test('writeSafetensors() writes many pieces from one reused array', async () => {
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
  const weights = await SafetensorsReader.open(path);
  const [a, b] = [await weights.read('a'), await weights.read('b')];
  await weights.close();
  expect(a.findIndex((value, i) => value !== i % 251)).toBe(-1);
  expect(b.findIndex((value, i) => value !== (i % 251) + 1)).toBe(-1);
});
