import { describe, expect, test } from 'vitest';
import { rotationFeeds } from './batch-plan.ts';
import { readArchitecture } from './families/index.ts';
import { PackedBatch } from './packed-batch.ts';

const { config } = readArchitecture({
  model_type: 'llama',
  vocab_size: 10,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  rope_theta: 100,
});

describe('PackedBatch', () => {
  const batch = new PackedBatch([[7, 8, 9], [5], [6, 4]]);

  test('stores sequences end to end, with positions from 0 in each', () => {
    expect([...batch.tokens]).toEqual([7, 8, 9, 5, 6, 4]);
    expect([...batch.positions]).toEqual([0, 1, 2, 0, 0, 1]);
    expect(batch.lengths).toEqual([3, 1, 2]);
  });

  test('lastRows() returns the row of each last token', () => {
    expect([...batch.lastRows()]).toEqual([2, 3, 5]);
  });

  test('rotates each token by its position in its own sequence', () => {
    const { feeds } = batch.plan(config);
    const cos = [0, 1, 2, 0, 0, 1].flatMap((t) => [Math.cos(t), Math.cos(t / 10)]);
    expect(feeds.cos).toEqual({ dtype: 'float32', shape: [6, 2], data: Float32Array.from(cos) });
  });

  test('has index tables for query heads and for key heads', () => {
    const { 'pack.q': q, 'places.kv': kv } = batch.plan(config).feeds;
    // Rows of [B=3, heads, T=3], by token and head; the longest sequence comes first.
    expect([...(q?.data ?? [])]).toEqual([0, 3, 1, 4, 2, 5, 12, 15, 6, 9, 7, 10]);
    expect(kv?.shape).toEqual([1, 6, 1]);
    expect([...(kv?.data ?? [])]).toEqual([0, 1, 2, 6, 3, 4]);
  });

  test('fills missing places of shared keys with a key that no query sees', () => {
    const layout = { rows: [Int32Array.of(0, 1), Int32Array.of(0, 2)], count: 3 };
    const two = new PackedBatch(
      [
        [5, 6],
        [5, 7],
      ],
      { layout },
    );
    const { form, feeds } = two.plan(config);
    expect(form).toEqual({ blocks: 1, shared: true, past: false });
    const { shape, data } = feeds['places.kv']!;
    // The shared row has its own query, and the queries of both other rows see it.
    expect(shape).toEqual([3, 3, 1]);
    const bias = feeds['bias.0']!;
    const keys = bias.shape[3]!;
    const spare = data.at(-1) as number;
    const isHidden = (query: number) => bias.data[query * keys + (spare % keys)] === -1e9;
    const queries = bias.shape[0]! * bias.shape[2]!;
    const real = [...feeds['real.0']!.data];
    for (let query = 0; query < queries; query++) {
      expect(real[query] === 0 || isHidden(query)).toBe(true);
    }
  });

  test('runs only the rows after the known ones', () => {
    const { form, feeds } = batch.plan(config, 4);
    expect(form).toEqual({ blocks: 1, shared: false, past: true });
    expect(feeds.cos?.shape).toEqual([2, 2]);
    expect(feeds['pack.q']?.shape).toEqual([2, 2]);
  });
});

test('rotationFeeds() returns nothing if positions are learned', () => {
  expect(rotationFeeds({ ...config, rope: undefined }, [0, 1])).toEqual({});
});
