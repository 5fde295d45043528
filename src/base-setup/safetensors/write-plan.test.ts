import { expect, test } from 'vitest';
import { planShardIndex, planShards } from './write-plan.ts';

const specs = (sizes: number[]) =>
  sizes.map((size, i) => ({ name: `${i}`, shape: [size], dtype: 'F32' as const }));

const plan = (sizes: number[], limit: number) =>
  [...planShards(specs(sizes), limit * 4)].map(([file, of]) => [
    file,
    of.map(({ shape }) => shape[0]),
  ]);

test('planShards() returns the worked example', () => {
  expect(plan([6, 6, 2, 6, 2, 2], 10)).toEqual([
    ['model-00001-of-00003.safetensors', [6]],
    ['model-00002-of-00003.safetensors', [6, 2]],
    ['model-00003-of-00003.safetensors', [6, 2, 2]],
  ]);
});

test('planShards() puts a tensor above the limit into its own shard', () => {
  expect(plan([3, 11, 3], 10)).toEqual([
    ['model-00001-of-00002.safetensors', [11]],
    ['model-00002-of-00002.safetensors', [3, 3]],
  ]);
});

test('planShards() names a single file model.safetensors', () => {
  expect(plan([6, 4], 10)).toEqual([['model.safetensors', [6, 4]]]);
  expect(plan([11], 10)).toEqual([['model.safetensors', [11]]]);
  expect(plan([], 10)).toEqual([['model.safetensors', []]]);
});

test('planShards() rejects a limit of 0', () => {
  expect(() => planShards([], 0)).toThrow(
    new RangeError('Cannot write shards: maxShardBytes must be greater than 0, got 0'),
  );
});

test('planShardIndex() counts the bytes and lists every tensor', () => {
  const shards = planShards(specs([2, 3]), 12);
  expect(JSON.parse(planShardIndex(shards))).toEqual({
    metadata: { total_size: 20 },
    weight_map: { 0: 'model-00001-of-00002.safetensors', 1: 'model-00002-of-00002.safetensors' },
  });
});
