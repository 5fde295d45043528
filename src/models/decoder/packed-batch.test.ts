import { describe, expect, test } from 'vitest';
import { readArchitecture } from './families/index.ts';
import { PackedBatch, rotationFeeds } from './packed-batch.ts';

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

  test('lays sequences end to end, positions starting anew in each', () => {
    expect([...batch.tokens]).toEqual([7, 8, 9, 5, 6, 4]);
    expect([...batch.positions]).toEqual([0, 1, 2, 0, 0, 1]);
    expect(batch.lengths).toEqual([3, 1, 2]);
  });

  test('knows the row of each last token', () => {
    expect([...batch.lastRows()]).toEqual([2, 3, 5]);
  });

  test('rotates each token by its place in its own sequence', () => {
    const feeds = batch.feeds(config);
    const cos = [0, 1, 2, 0, 0, 1].flatMap((t) => [Math.cos(t), Math.cos(t / 10)]);
    expect(feeds.cos).toEqual({ dtype: 'float32', shape: [6, 2], data: Float32Array.from(cos) });
  });

  test('has index tables for query heads and for key heads', () => {
    const { 'pack.q': q, 'pack.kv': kv } = batch.feeds(config);
    // Rows of [B=3, heads, T=3], by token and head.
    expect([...(q?.data ?? [])]).toEqual([0, 3, 1, 4, 2, 5, 6, 9, 12, 15, 13, 16]);
    expect([...(kv?.data ?? [])]).toEqual([0, 1, 2, 3, 6, 7]);
  });
});

test('rotationFeeds() are none where positions are learned', () => {
  expect(rotationFeeds({ ...config, rope: undefined }, [0, 1])).toEqual({});
});
