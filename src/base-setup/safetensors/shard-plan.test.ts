import { expect, test } from 'vitest';
import { planShardIndex, planShards } from './shard-plan.ts';

const specs = (sizes: number[]) =>
  sizes.map((size, i) => ({ name: `${i}`, shape: [size], dtype: 'F32' as const }));

const plan = (sizes: number[], limit: number) =>
  [...planShards(specs(sizes), limit * 4)].map(([file, of]) => [
    file,
    of.map(({ shape }) => shape[0]),
  ]);

test('planShards() gives the worked example', () => {
  expect(plan([6, 6, 2, 6, 2, 2], 10)).toEqual([
    ['model-00001-of-00003.safetensors', [6]],
    ['model-00002-of-00003.safetensors', [6, 2]],
    ['model-00003-of-00003.safetensors', [6, 2, 2]],
  ]);
});

test('planShards() gives a tensor that is too large a shard of its own', () => {
  expect(plan([3, 11, 3], 10)).toEqual([
    ['model-00001-of-00002.safetensors', [11]],
    ['model-00002-of-00002.safetensors', [3, 3]],
  ]);
});

test('planShards() gives a single file its plain name', () => {
  expect(plan([6, 4], 10)).toEqual([['model.safetensors', [6, 4]]]);
  expect(plan([11], 10)).toEqual([['model.safetensors', [11]]]);
  expect(plan([], 10)).toEqual([['model.safetensors', []]]);
});

test('planShards() refuses a limit of nothing', () => {
  expect(() => planShards([], 0)).toThrow(
    new RangeError('Cannot write shards: maxShardBytes must be greater than 0, got 0'),
  );
});

test('planShardIndex() counts bytes and places every tensor', () => {
  const shards = planShards(specs([2, 3]), 12);
  expect(JSON.parse(planShardIndex(shards))).toEqual({
    metadata: { total_size: 20 },
    weight_map: { 0: 'model-00001-of-00002.safetensors', 1: 'model-00002-of-00002.safetensors' },
  });
});
