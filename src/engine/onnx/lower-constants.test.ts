import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeModel } from '../../../test/helpers/runtime-onnx-decoder.ts';
import { listOf, runValues } from '../../../test/helpers/runtime-run.ts';
import { type StoredTensor, writeSafetensors } from '../../../test/helpers/runtime-safetensors.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import {
  add,
  cast,
  constant,
  type FileSlice,
  gatherRows,
  input,
  makeGraph,
  matmul,
} from '../graph/index.ts';
import { tensor } from '../runtime/index.ts';
import { lower } from './lower.ts';

const rowIndex = input('rows', ['N'], 'int32');
const rows = (...indices: number[]) => tensor(Int32Array.from(indices), [indices.length]);
/** first, first + 1, … */
const countFrom = (first: number, length: number) =>
  Float32Array.from({ length }, (_, i) => first + i);
const floats = (values: readonly number[], shape: readonly number[]) =>
  tensor(Float32Array.from(values), shape);

describe('constants in memory', () => {
  test('of 1024 bytes are in the model, larger ones outside', () => {
    const small = countFrom(0, 256);
    const large = countFrom(0, 257);
    const { bytes, externalData } = lower(
      makeGraph({
        small: constant(small, { shape: [256] }),
        large: constant(large, { shape: [257] }),
      }),
    );
    const [inside, outside] = decodeModel(bytes).initializers;
    expect(inside?.raw).toEqual(new Uint8Array(small.buffer));
    expect(outside?.external).toEqual({ location: outside?.name, offset: '0', length: '1028' });
    expect([...externalData.keys()]).toEqual([outside?.name]);
    expect(externalData.get(outside?.name ?? '')?.buffer).toBe(large.buffer);
  });

  test.each([
    ['small', 10],
    ['large', 1000],
  ])('are read from the middle of a buffer: %s', async (_, length) => {
    const part = countFrom(0, 2 * length).subarray(3, 3 + length);
    const outputs = await runValues(
      { y: gatherRows(constant(part, { shape: [length, 1] }), rowIndex) },
      { rows: rows(0, length - 1) },
    );
    expect(listOf(outputs, 'y')).toEqual([3, length + 2]);
  });

  test('may be many, small and large, of every dtype', async () => {
    const halves = new Uint16Array(1000).fill(0x3e00);
    const outputs = await runValues({
      float: add(constant(countFrom(0, 1000), { shape: [1000] }), constant(0.5)),
      int: constant(new Int32Array(1000).fill(-7), { shape: [1000], dtype: 'int32' }),
      bool: constant(new Uint8Array(2000).fill(1), { shape: [2000], dtype: 'bool' }),
      half: cast(constant(halves, { shape: [1000], dtype: 'float16' }), 'float32'),
      brain: cast(constant(Uint16Array.of(0x3fc0), { shape: [1], dtype: 'bfloat16' }), 'float32'),
    });
    expect(outputs).toEqual({
      float: tensor(countFrom(0.5, 1000), [1000]),
      int: tensor(new Int32Array(1000).fill(-7), [1000]),
      bool: tensor(new Uint8Array(2000).fill(1), [2000]),
      half: tensor(new Float32Array(1000).fill(1.5), [1000]),
      brain: floats([1.5], [1]),
    });
  });
});

/** IEEE binary16: (−1)^s · 2^(e−15) · (1 + m/1024), subnormal for e = 0, infinite or NaN for e = 31. */
function readHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 0) return sign * 2 ** -14 * (mantissa / 1024);
  if (exponent === 31) return mantissa ? Number.NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + mantissa / 1024);
}

/** bfloat16 is the upper half of a float32. */
function readBrain(bits: number): number {
  return new Float32Array(Uint32Array.of(bits << 16).buffer)[0] as number;
}

const everyPattern = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);

/** Writes one file of a sum's two terms; returns slices of both. */
function writePair(file: string): { a: FileSlice; b: FileSlice } {
  return writeSafetensors(file, {
    a: { dtype: 'F32', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) },
    b: { dtype: 'F32', shape: [2, 2], data: Float32Array.of(10, 20, 30, 40) },
  }) as { a: FileSlice; b: FileSlice };
}

const square = (slice: FileSlice) => constant(slice, { shape: [2, 2] });

describe('constants in a safetensors file', () => {
  test('of F32 are exact', async () => {
    const slices = writePair(join(makeTempFolder(), 'model.safetensors'));
    const outputs = await runValues(
      { sum: add(square(slices.a), square(slices.b)), b: square(slices.b) },
      {},
    );
    expect(outputs).toEqual({
      sum: floats([11, 22, 33, 44], [2, 2]),
      b: floats([10, 20, 30, 40], [2, 2]),
    });
  });

  test('are multiplied and gathered like those in memory', async () => {
    const data = countFrom(0, 600);
    const { w } = writeSafetensors(join(makeTempFolder(), 'model.safetensors'), {
      w: { dtype: 'F32', shape: [200, 3], data },
    });
    const use = (weight: ReturnType<typeof constant>) => ({
      product: matmul(input('x', ['M', 3]), weight, { transB: true }),
      rows: gatherRows(weight, rowIndex),
    });
    const feeds = { x: floats([1, 0, 0, 0, 2, 1], [2, 3]), rows: rows(199, 0) };
    const fromFile = await runValues(use(constant(w as FileSlice, { shape: [200, 3] })), feeds);
    expect(fromFile).toEqual(await runValues(use(constant(data, { shape: [200, 3] })), feeds));
    expect(listOf(fromFile, 'rows')).toEqual([597, 598, 599, 0, 1, 2]);
  });

  test.each([
    ['F16', 'float16', readHalf],
    ['BF16', 'bfloat16', readBrain],
  ] as const)('of %s are exact for all 65536 bit patterns', async (stored, dtype, read) => {
    const entry: StoredTensor = { dtype: stored, shape: [2 ** 16], data: everyPattern };
    const { w } = writeSafetensors(join(makeTempFolder(), 'model.safetensors'), { w: entry });
    const weight = constant(w as FileSlice, { shape: [2 ** 16], dtype });
    const outputs = await runValues({ y: cast(weight, 'float32') });
    expect(outputs.y).toEqual(floats([...everyPattern].map(read), [2 ** 16]));
  });

  test.each(['w', 'w1', 'w12', 'w123'])('are found at any offset: %s', async (name) => {
    const entry: StoredTensor = { dtype: 'F32', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) };
    const slices = writeSafetensors(join(makeTempFolder(), 'model.safetensors'), { [name]: entry });
    const outputs = await runValues({ y: square(slices[name] as FileSlice) });
    expect(listOf(outputs, 'y')).toEqual([1, 2, 3, 4]);
  });

  test('are found through links of the Hugging Face cache', async () => {
    const cache = makeTempFolder();
    mkdirSync(join(cache, 'blobs'));
    mkdirSync(join(cache, 'snapshots', 'x'), { recursive: true });
    const slices = writePair(join(cache, 'blobs', '0a1b2c'));
    const link = join(cache, 'snapshots', 'x', 'model.safetensors');
    symlinkSync(join('..', '..', 'blobs', '0a1b2c'), link);
    const outputs = await runValues({
      sum: add(square({ ...slices.a, file: link }), square({ ...slices.b, file: link })),
    });
    expect(listOf(outputs, 'sum')).toEqual([11, 22, 33, 44]);
  });

  test('may be in several files of a folder', async () => {
    const folder = makeTempFolder();
    const first = writePair(join(folder, 'model-00001-of-00002.safetensors'));
    const second = writePair(join(folder, 'model-00002-of-00002.safetensors'));
    const outputs = await runValues({ sum: add(square(first.a), square(second.b)) });
    expect(listOf(outputs, 'sum')).toEqual([11, 22, 33, 44]);
  });

  test('can be combined with large constants in memory', async () => {
    const { a } = writePair(join(makeTempFolder(), 'model.safetensors'));
    const table = constant(countFrom(0, 1000), { shape: [500, 2] });
    const outputs = await runValues(
      { y: matmul(gatherRows(table, rowIndex), square(a)) },
      { rows: rows(499, 1) },
    );
    expect(listOf(outputs, 'y')).toEqual([998 + 3 * 999, 2 * 998 + 4 * 999, 2 + 9, 4 + 12]);
  });

  test('in two folders are rejected', () => {
    const folders = [makeTempFolder(), makeTempFolder()] as const;
    const [first, second] = folders.map((folder) => writePair(join(folder, 'w.safetensors')));
    const y = add(square((first as { a: FileSlice }).a), square((second as { a: FileSlice }).a));
    const [one, other] = folders.map((folder) => realpathSync(folder));
    expect(() => lower(makeGraph({ y }), { resolveFile: realpathSync })).toThrow(
      new Error(
        `Cannot lower the graph: constants must be in files of one folder, got ${one} and ${other}`,
      ),
    );
  });

  test('in a missing file are rejected', () => {
    const file = join(makeTempFolder(), 'missing.safetensors');
    const graph = makeGraph({ y: square({ file, offset: 0, length: 16 }) });
    expect(() => lower(graph, { resolveFile: realpathSync })).toThrow(
      `ENOENT: no such file or directory, lstat '${file}'`,
    );
  });

  test('are rejected by devices that read no files', () => {
    const graph = makeGraph({ y: square({ file: 'w.safetensors', offset: 0, length: 16 }) });
    expect(() => lower(graph)).toThrow(
      new Error(
        'Cannot lower the graph: this device reads no files, got a constant in w.safetensors',
      ),
    );
  });
});
