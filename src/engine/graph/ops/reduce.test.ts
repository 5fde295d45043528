import { describe, expect, test } from 'vitest';
import { floats, runGraph } from '../../../../test/helpers/engine/run-graph.ts';
import { float32, int32, testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { makeGraph } from '../graph.ts';
import { count, maxOf, mean, sum } from './reduce.ts';
import { input } from './source.ts';

testRejections('reductions reject', [
  [
    'integers',
    () => sum(int32([2])),
    new TypeError('Cannot apply sum: inputs must be float32, got int32[2]'),
  ],
  [
    'an unknown axis',
    () => maxOf(float32([2, 3]), [2]),
    new RangeError('Cannot apply maxOf: axis 2 is not an axis of a rank-2 tensor'),
  ],
  [
    'an unknown negative axis',
    () => sum(float32([2, 3]), [-3]),
    new RangeError('Cannot apply sum: axis -3 is not an axis of a rank-2 tensor'),
  ],
  [
    'a fractional axis',
    () => count(float32([2, 3]), [0.5]),
    new RangeError('Cannot apply count: axis 0.5 is not an axis of a rank-2 tensor'),
  ],
  [
    'an axis of a scalar',
    () => sum(float32([]), [0]),
    new RangeError('Cannot apply sum: axis 0 is not an axis of a rank-0 tensor'),
  ],
  [
    'a duplicate axis',
    () => mean(float32([2, 3]), [0, -2]),
    new TypeError('Cannot apply sum: axes [0,-2] must name each axis once, got float32[2,3]'),
  ],
]);

describe('without axes', () => {
  const x = input('x', ['M', 2]);

  test('an empty list of axes reduces nothing', () => {
    expect(sum(x, [])).toBe(x);
    expect(maxOf(x, [])).toBe(x);
  });

  test('no list means all axes, which are kept with size 1', async () => {
    const graph = makeGraph({ sum: sum(x), max: maxOf(x), mean: mean(x) });
    expect(graph.outputs.mean?.shape).toEqual([1, 1]);
    const feeds = { x: floats([1, 2, 3, 5, 8, -1], [3, 2]) };
    expect(await runGraph(graph, feeds)).toEqual({ sum: [18], max: [8], mean: [3] });
  });
});

test('count() resolves a symbolic size at run time', async () => {
  const x = input('x', ['M', 2, 'T']);
  const graph = makeGraph({ all: count(x), rows: count(x, [0]), pair: count(x, [0, -1]) });
  const feeds = { x: floats(Array(24).fill(0), [3, 2, 4]) };
  expect(await runGraph(graph, feeds)).toEqual({ all: [24], rows: [3], pair: [12] });
});

test('count() of known sizes is a constant', () => {
  expect(count(input('x', ['M', 2, 3]), [1, 2])).toMatchObject({
    op: { name: 'constant' },
    attributes: { data: Float32Array.of(6) },
  });
});
