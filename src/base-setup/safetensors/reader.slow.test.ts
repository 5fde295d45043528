import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MemorySource, makeFile } from '../../../test/fixtures/safetensors/make-file.ts';
import { harmful, harmless, makeRandom } from '../../../test/fixtures/safetensors/mutate.ts';
import { readFully } from './byte-source.ts';
import { readHeader } from './header.ts';
import { readFloat32Into } from './reader.ts';
import { readShardIndex } from './shard-index.ts';
import { isFloatDtype } from './tensor-info.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/safetensors/${name}`, import.meta.url));

const seeds = [
  fixture('floats.safetensors'),
  fixture('other-dtypes.safetensors'),
  fixture('sharded/model-00001-of-00005.safetensors'),
  makeFile({
    header: {
      w0: { dtype: 'BF16', shape: [2, 1], data_offsets: [0, 4] },
      w1: { dtype: 'F16', shape: [1], data_offsets: [4, 6] },
      w2: { dtype: 'U8', shape: [], data_offsets: [6, 7] },
    },
    data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7),
  }),
];

type Entry = { dtype: string; shape: number[]; data_offsets: [number, number] };

/** Element `i` of a tensor, by the definition of its dtype. */
function valueAt(data: DataView, { dtype, i }: { dtype: string; i: number }): number {
  if (dtype === 'F32') return data.getFloat32(4 * i, true);
  const bits = data.getUint16(2 * i, true);
  const [width, bias] = dtype === 'F16' ? [10, 15] : [7, 127];
  const [exponent, fraction] = [(bits & 0x7fff) >> width, bits & (2 ** width - 1)];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  const mantissa = fraction / 2 ** width + (exponent === 0 ? 0 : 1);
  return sign * mantissa * 2 ** (Math.max(exponent, 1) - bias);
}

/** Reads all of a file; what it accepts must be what JSON.parse and the bytes themselves say. */
async function readAll(file: Buffer): Promise<void> {
  const source = new MemorySource(file);
  const { tensors, metadata } = await readHeader(source);
  const dataStart = 8 + file.readUInt32LE(0);
  const { __metadata__, ...entries } = JSON.parse(file.toString('utf8', 8, dataStart));
  expect(Object.fromEntries(metadata)).toEqual(__metadata__ ?? {});
  expect(tensors.length).toBe(Object.keys(entries).length);
  for (const info of tensors) {
    const { dtype, shape, data_offsets }: Entry = entries[info.name];
    const [begin, end] = data_offsets.map((offset) => dataStart + offset) as [number, number];
    expect(info).toMatchObject({ dtype, shape, offset: begin, length: end - begin });
    const bytes = new Uint8Array(info.length);
    await readFully(source, bytes, { position: info.offset });
    expect(file.subarray(begin, end).equals(bytes)).toBe(true);
    if (!isFloatDtype(dtype)) continue;
    const target = new Float32Array(info.length / (dtype === 'F32' ? 4 : 2));
    await readFloat32Into(source, { info, target });
    const data = new DataView(bytes.buffer);
    if (!target.every((value, i) => Object.is(value, valueAt(data, { dtype, i })))) {
      expect.fail(`${info.name} contains ${target}`);
    }
  }
  expect(source.largestView).toBeLessThanOrEqual(file.length);
}

/** The error message for a rejected file; any other error fails the test. */
async function errorOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    if (!message.startsWith('Cannot read m.safetensors: ')) throw error;
    expect(error).toSatisfy((of) => of instanceof SyntaxError || of instanceof RangeError);
    expect(message.length).toBeLessThan(500);
    return message;
  }
}

describe('reading survives 130,000 mutated files', () => {
  test.each(Object.entries(harmless))(
    'reading them correctly: %s',
    async (name, mutate) => {
      const random = makeRandom(name.length);
      for (let k = 0; k < 5000; k++) await readAll(mutate(seeds[k % seeds.length]!, random));
    },
    60_000,
  );

  test.each(Object.entries(harmful))(
    'rejecting them with a clear error or reading them correctly: %s',
    async (name, mutate) => {
      const random = makeRandom(name.length);
      let accepted = 0;
      const messages = new Set<string>();
      for (let k = 0; k < 12_000; k++) {
        const message = await errorOf(readAll(mutate(seeds[k % seeds.length]!, random)));
        if (message === undefined) accepted++;
        else messages.add(message);
      }
      expect(accepted).toBeLessThan(4000);
      expect(messages.size).toBeGreaterThan(30);
    },
    60_000,
  );
});

test('readShardIndex() survives 20,000 mutated indexes', async () => {
  const seed = fixture('sharded/model.safetensors.index.json');
  const random = makeRandom(1);
  let accepted = 0;
  for (let k = 0; k < 20_000; k++) {
    const changed = Buffer.from(seed);
    for (let n = random(3); n >= 0; n--) changed[random(seed.length)] = 32 + random(100);
    const file = random(3) === 0 ? changed.subarray(0, random(seed.length)) : changed;
    const work = readShardIndex(new MemorySource(file)).then((index) => {
      const { weight_map } = JSON.parse(file.toString());
      const pairs = [...index].flatMap(([shard, names]) => names.map((name) => [name, shard]));
      expect(Object.fromEntries(pairs)).toEqual(weight_map);
      for (const shard of index.keys()) expect(shard).not.toMatch(/[/\\]|^\.+$/);
    });
    if ((await errorOf(work)) === undefined) accepted++;
  }
  expect(accepted).toBeGreaterThan(1000);
}, 60_000);
