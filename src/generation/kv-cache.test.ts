import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { qwen3Architecture } from '../../bench/qwen3.ts';
import { tensor } from '../engine/runtime/index.ts';
import { readArchitecture } from '../models/decoder/families/index.ts';
import { cacheBytes, chooseSlots, KvCache } from './kv-cache.ts';

const LAYERS = 2;
const HEADS = 2;
const SIZE = 3;
const SLOTS = 3;

const { config } = readArchitecture({
  model_type: 'llama',
  vocab_size: 4,
  hidden_size: 12,
  intermediate_size: 4,
  num_hidden_layers: LAYERS,
  num_attention_heads: 4,
  num_key_value_heads: HEADS,
});

/** Numbers that are unique to a token, layer and head. */
function headRow(token: number, layer: number, head: number): number[] {
  return Array.from({ length: SIZE }, (_, i) => token * 100 + layer * 20 + head * 5 + i);
}

function rows(tokens: readonly number[], layer: number): Float32Array {
  return Float32Array.from(
    tokens.flatMap((token) =>
      Array.from({ length: HEADS }, (_, head) => headRow(token, layer, head)).flat(),
    ),
  );
}

const negated = (numbers: Float32Array) => numbers.map((number) => -number);

/** Writes a prompt as a decoder does: layer by layer, then the length. Values are negated keys. */
function write(cache: KvCache, slot: number, tokens: readonly number[]): void {
  cache.reserve(tokens.length);
  for (let layer = 0; layer < LAYERS; layer++) {
    const k = rows(tokens, layer);
    const values = (data: Float32Array) => tensor(data, [tokens.length, HEADS, SIZE]);
    const keys = { k: values(k), v: values(negated(k)) };
    cache.write(layer, { ...keys, slots: [slot], lengths: [tokens.length] });
  }
  cache.setLength(slot, tokens.length);
}

/** Appends a token to each of the first slots. */
function append(cache: KvCache, tokens: readonly number[]): void {
  cache.reserve(Math.max(...cache.lengths.slice(0, tokens.length)) + 1);
  const k = Float32Array.from(
    Array.from({ length: LAYERS }, (_, layer) => [...rows(tokens, layer)]).flat(),
  );
  const values = (data: Float32Array) => tensor(data, [LAYERS, tokens.length, HEADS, SIZE]);
  cache.append(tokens.length, values(k), values(negated(k)));
}

/** The tokens visible to a decode graph in each of the first slots, with every number checked. */
function seen(cache: KvCache, count: number): number[][] {
  const feeds = cache.feeds(count);
  const capacity = feeds.bias?.shape[3] ?? Number.NaN;
  expect(capacity % 32).toBe(0);
  const slots = Array.from({ length: count }, (_, slot) => {
    const bias = [...(feeds.bias?.data ?? [])].slice(slot * capacity, (slot + 1) * capacity);
    const length = bias.filter((value) => value === 0).length;
    const hidden = Array(capacity - length).fill(Math.fround(-1e9));
    expect(bias).toEqual([...Array(length).fill(0), ...hidden]);
    const base = slot * HEADS * capacity * SIZE;
    return Array.from({ length }, (_, t) => Number(feeds['k.0']?.data[base + t * SIZE]) / 100);
  });
  for (let layer = 0; layer < LAYERS; layer++) {
    const { data: k, shape } = feeds[`k.${layer}`] ?? { data: [], shape: [] };
    const v = feeds[`v.${layer}`]?.data ?? [];
    expect(shape).toEqual([count, HEADS, capacity, SIZE]);
    expect(v).toHaveLength(k.length);
    for (const [slot, tokens] of slots.entries()) {
      for (let head = 0; head < HEADS; head++) {
        const start = (slot * HEADS + head) * capacity * SIZE;
        const expected = tokens.flatMap((token) => headRow(token, layer, head));
        const stored = k.slice(start, start + tokens.length * SIZE);
        expect([...stored]).toEqual(expected);
        expect([...v.slice(start, start + tokens.length * SIZE)]).toEqual(
          expected.map((number) => (number === 0 ? -0 : -number)),
        );
      }
    }
  }
  return slots;
}

describe('KvCache', () => {
  test('stores heads in rows and tokens next to each other', () => {
    const cache = new KvCache(config, 2);
    write(cache, 1, [7, 8]);
    const { 'k.1': keys } = cache.feeds(2);
    const at = (slot: number, head: number, t: number) => {
      const start = ((slot * HEADS + head) * 32 + t) * SIZE;
      return [...(keys?.data.slice(start, start + SIZE) ?? [])];
    };
    expect(at(1, 0, 0)).toEqual([720, 721, 722]);
    expect(at(1, 1, 0)).toEqual([725, 726, 727]);
    expect(at(1, 0, 1)).toEqual([820, 821, 822]);
  });

  test('feeds its own memory without a copy', () => {
    const cache = new KvCache(config, 2);
    write(cache, 0, [1]);
    const before = cache.feeds(1)['k.0']?.data;
    append(cache, [2]);
    expect(before?.[SIZE]).toBe(200);
  });

  test('grows with an eighth of room to spare and keeps its contents', () => {
    const cache = new KvCache(config, 2);
    const tokens = Array.from({ length: 96 }, (_, t) => t + 1);
    // 65 tokens and 8 spare ones
    cache.reserve(65);
    expect(cache.feeds(1).bias?.shape).toEqual([1, 1, 1, 96]);
    write(cache, 0, tokens);
    write(cache, 1, [200]);
    expect(cache.feeds(1).bias?.shape).toEqual([1, 1, 1, 96]);
    append(cache, [97, 201]);
    expect(cache.feeds(1).bias?.shape).toEqual([1, 1, 1, 128]);
    expect(seen(cache, 2)).toEqual([
      [...tokens, 97],
      [200, 201],
    ]);
  });

  test('masks the previous contents of a slot', () => {
    const cache = new KvCache(config, 1);
    write(cache, 0, [1, 2, 3, 4]);
    write(cache, 0, [5]);
    expect(seen(cache, 1)).toEqual([[5]]);
    append(cache, [6]);
    expect(seen(cache, 1)).toEqual([[5, 6]]);
  });

  test('append() does not change further slots', () => {
    const cache = new KvCache(config, 3);
    for (const slot of [0, 1, 2]) write(cache, slot, [slot + 1]);
    append(cache, [8, 9]);
    expect(seen(cache, 3)).toEqual([[1, 8], [2, 9], [3]]);
    expect([...cache.lengths]).toEqual([2, 2, 1]);
  });

  describe('behaves as a list of tokens per slot', () => {
    type Command = (cache: KvCache, lists: number[][]) => void;
    const slot = fc.integer({ min: 0, max: SLOTS - 1 });
    const token = fc.integer({ min: 0, max: 999 });
    const prompt = fc.oneof(
      fc.array(token, { minLength: 1, maxLength: 5 }),
      // Near the sizes where the cache grows.
      fc.integer({ min: 26, max: 34 }).map((length) => Array<number>(length).fill(length)),
      fc.constant(Array<number>(128).fill(128)),
    );
    const writes = fc.tuple(slot, prompt).map(
      ([to, tokens]): Command =>
        (cache, lists) => {
          write(cache, to, tokens);
          lists[to] = [...tokens];
        },
    );
    const appends = fc.array(token, { minLength: 1, maxLength: SLOTS }).map(
      (tokens): Command =>
        (cache, lists) => {
          append(cache, tokens);
          for (const [to, id] of tokens.entries()) lists[to]?.push(id);
        },
    );
    const copies = fc.tuple(slot, slot).map(
      ([from, to]): Command =>
        (cache, lists) => {
          cache.copy(from, to);
          lists[to] = [...(lists[from] ?? [])];
        },
    );
    const reserves = fc.integer({ min: 1, max: 200 }).map(
      (size): Command =>
        (cache) =>
          cache.reserve(size),
    );

    test('after any sequence of writes, appends, copies and growth', () => {
      const commands = fc.array(fc.oneof(writes, appends, copies, reserves), { maxLength: 10 });
      fc.assert(
        fc.property(commands, (steps) => {
          const cache = new KvCache(config, SLOTS);
          const lists: number[][] = Array.from({ length: SLOTS }, () => []);
          cache.reserve(1);
          for (const step of steps) {
            step(cache, lists);
            expect(seen(cache, SLOTS)).toEqual(lists);
            expect([...cache.lengths]).toEqual(lists.map(({ length }) => length));
          }
        }),
        { numRuns: 60 },
      );
    });
  });
});

const qwen3 = qwen3Architecture().config;

describe('chooseSlots()', () => {
  test('is 32 if their keys and values fit into 1 GiB, else as many as fit, at least 1', () => {
    // 28·8·128·2·4 = 229,376 bytes per token; 128 tokens of 32 texts take 0.9 GiB, 160 would take 1.1.
    expect(chooseSlots(qwen3, 100)).toBe(32);
    // ⌊2³⁰ / (160·229,376)⌋
    expect(chooseSlots(qwen3, 129)).toBe(29);
    expect(chooseSlots(qwen3, 30_000)).toBe(1);
  });
});

describe('cacheBytes()', () => {
  test('counts keys and values of all layers in steps of 64 tokens', () => {
    expect(cacheBytes(qwen3, { slots: 1, length: 85 })).toBe(22_020_096);
    expect(cacheBytes(qwen3, { slots: 3, length: 86 })).toBe(3 * 29_360_128);
  });
});
