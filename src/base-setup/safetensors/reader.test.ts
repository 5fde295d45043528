import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFile } from '../../../test/fixtures/safetensors/make-file.ts';
import type { SafetensorsReader } from './index.ts';
import { openSafetensors } from './open-weights.ts';

interface Golden {
  readonly metadata: Record<string, string>;
  readonly tensors: {
    readonly name: string;
    readonly dtype: string;
    readonly shape: number[];
    /** Text for numbers that JSON lacks. */
    readonly values?: (number | string)[];
    readonly hex?: string;
  }[];
}

const fixtures = fileURLToPath(new URL('../../../test/fixtures/safetensors/', import.meta.url));
const goldens: { files: Record<string, Golden> } = JSON.parse(
  await readFile(join(fixtures, 'goldens.json'), 'utf8'),
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'safetensors-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function expectTensors(weights: SafetensorsReader, golden: Golden['tensors']) {
  expect(weights.tensors.map(({ name }) => name).sort()).toEqual(
    golden.map(({ name }) => name).sort(),
  );
  for (const { name, dtype, shape, values, hex } of golden) {
    expect(weights.info(name)).toMatchObject({ name, dtype, shape });
    if (values) expect(await weights.read(name), name).toEqual(Float32Array.from(values, Number));
    else expect(Buffer.from(await weights.readBytes(name)).toString('hex'), name).toBe(hex);
  }
}

test.each(Object.entries(goldens.files))('read() equals Python on %s', async (file, golden) => {
  const weights = await openSafetensors(join(fixtures, file));
  expect(Object.fromEntries(weights.metadata)).toEqual(golden.metadata);
  await expectTensors(weights, golden.tensors);
  await weights.close();
});

test.each(['sharded', 'sharded/model.safetensors.index.json'])(
  'read() finds tensors in shards: %s',
  async (path) => {
    const weights = await openSafetensors(join(fixtures, path));
    const shards = Object.entries(goldens.files).filter(([file]) => file.startsWith('sharded'));
    expect(shards.length).toBe(5);
    await expectTensors(
      weights,
      shards.flatMap(([, { tensors }]) => tensors),
    );
    expect([...weights.metadata]).toEqual([['format', 'pt']]);
    expect(weights.info('model.layers.3.weight').file).toBe(
      join(fixtures, 'sharded/model-00002-of-00005.safetensors'),
    );
    await weights.close();
  },
);

test('info() returns the position of the bytes for external data', async () => {
  const weights = await openSafetensors(join(fixtures, 'floats.safetensors'));
  const { file, offset, length } = weights.info('model.embed_tokens.weight');
  const handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
  await handle.close();
  expect(length).toBe(48);
  expect(buffer).toEqual(Buffer.from(await weights.readBytes('model.embed_tokens.weight')));
  expect([weights.has('scalar'), weights.has('toString')]).toEqual([true, false]);
  await weights.close();
});

const elements = 600_001;
const indices = Array.from({ length: elements }, (_, i) => i);

test.each([
  ['F32', Float32Array.from(indices), (i: number) => i],
  ['F16', Uint16Array.from(indices, (i) => 0x3c00 + (i % 7)), (i: number) => 1 + (i % 7) / 1024],
  ['BF16', Uint16Array.from(indices, (i) => 0x3f80 + (i % 7)), (i: number) => 1 + (i % 7) / 128],
])('readInto() fills exactly the given memory: %s', async (dtype, stored, valueAt) => {
  const data = new Uint8Array(stored.buffer);
  const header = { w: { dtype, shape: [elements], data_offsets: [0, data.length] } };
  const path = join(folder, 'w.safetensors');
  await writeFile(path, makeFile({ header, data }));
  const weights = await openSafetensors(path);
  const memory = new Float32Array(elements + 2).fill(-1);
  const [alone] = await Promise.all([
    weights.read('w'),
    weights.readInto('w', memory.subarray(1, -1)),
  ]);
  await weights.close();
  const expected = bytesOf(Float32Array.from(indices, valueAt));
  expect(bytesOf(alone).equals(expected)).toBe(true);
  expect(bytesOf(memory.subarray(1, -1)).equals(expected)).toBe(true);
  expect([memory[0], memory.at(-1)]).toEqual([-1, -1]);
});

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  Buffer.from(buffer, byteOffset, byteLength);

describe('reading rejects', () => {
  const other = join(fixtures, 'other-dtypes.safetensors');

  test.each(['i64', 'f64', 'bool'])('%s as float32', async (name) => {
    const weights = await openSafetensors(other);
    await expect(weights.read(name)).rejects.toThrow(
      new TypeError(
        `Cannot read tensor "${name}" of ${other} as float32: dtype must be F32, F16, BF16, got ${name.toUpperCase()}; read its bytes instead`,
      ),
    );
    await weights.close();
  });

  test('a target of the wrong length', async () => {
    const weights = await openSafetensors(other);
    await expect(weights.readInto('f32', new Float32Array(2))).rejects.toThrow(
      new RangeError(`Cannot read tensor "f32" of ${other}: target must have 1 elements, got 2`),
    );
    await weights.close();
  });

  test('an unknown name', async () => {
    const weights = await openSafetensors(other);
    const error = new RangeError(
      `Cannot read tensor "toString" of ${other}: it must be one of the 8 tensors there, got no such name`,
    );
    expect(() => weights.info('toString')).toThrow(error);
    await expect(weights.read('toString')).rejects.toThrow(error);
    await expect(weights.readBytes('toString')).rejects.toThrow(error);
    await weights.close();
  });
});
