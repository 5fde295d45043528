import { expect, test } from 'vitest';
import { floats, integers, runGraph } from '../../../../test/helpers/engine/run-graph.ts';
import { float32, int32, testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { tensor } from '../../runtime/index.ts';
import { makeGraph } from '../graph.ts';
import {
  argmax,
  gatherLast,
  gatherRows,
  permuteRows,
  scatterAddRows,
  scatterLast,
  topKIndices,
} from './gather.ts';
import { input } from './source.ts';

testRejections('ops with indices reject', [
  [
    'indices that are not int32',
    () => gatherRows(float32([3, 2]), float32([4])),
    new TypeError(
      'Cannot apply gatherRows: indices must be int32, got float32[3,2] and float32[4]',
    ),
  ],
  [
    'rows of a scalar',
    () => gatherRows(float32([]), int32([4])),
    new TypeError('Cannot apply gatherRows: the input must have rows, got float32[] and int32[4]'),
  ],
  [
    'to scatter by float indices',
    () => scatterAddRows(float32([4, 2]), float32([4]), 3),
    new TypeError(
      'Cannot apply scatterAddRows: indices must be int32, got float32[4,2] and float32[4]',
    ),
  ],
  [
    'to scatter integers',
    () => scatterAddRows(int32([4, 2]), int32([4]), 3),
    new TypeError(
      'Cannot apply scatterAddRows: updates must be float32, got int32[4,2] and int32[4]',
    ),
  ],
  [
    'a different number of updates and indices',
    () => scatterAddRows(float32([4, 2]), int32([5]), 3),
    new TypeError(
      'Cannot apply scatterAddRows: updates must start with the axes of the index, got float32[4,2] and int32[5]',
    ),
  ],
  [
    'a permutation whose inverse has the wrong length',
    () => permuteRows(float32(['M', 2]), int32(['B', 'T']), int32(['B', 'T'])),
    new TypeError(
      'Cannot apply permuteRows: the inverse must have one entry per row, got float32[M,2] and int32[B,T] and int32[B,T]',
    ),
  ],
  [
    'a permutation whose inverse is not int32',
    () => permuteRows(float32(['M', 2]), int32(['M']), float32(['M'])),
    new TypeError(
      'Cannot apply permuteRows: indices must be int32, got float32[M,2] and int32[M] and float32[M]',
    ),
  ],
  [
    'to gather from the last axis with indices of the wrong shape',
    () => gatherLast(float32(['M', 5]), int32(['M', 1])),
    new TypeError(
      'Cannot apply gatherLast: the index must have every axis of the input but the last, got float32[M,5] and int32[M,1]',
    ),
  ],
  [
    'to gather from a scalar',
    () => gatherLast(float32([]), int32([])),
    new TypeError(
      'Cannot apply gatherLast: the index must have every axis of the input but the last, got float32[] and int32[]',
    ),
  ],
  [
    'to gather from the last axis with float indices',
    () => gatherLast(float32(['M', 5]), float32(['M'])),
    new TypeError(
      'Cannot apply gatherLast: indices must be int32, got float32[M,5] and float32[M]',
    ),
  ],
  [
    'to scatter with float indices along the last axis',
    () => scatterLast(float32(['M']), float32(['M']), 5),
    new TypeError('Cannot apply scatterLast: indices must be int32, got float32[M] and float32[M]'),
  ],
  [
    'to scatter integers along the last axis',
    () => scatterLast(int32(['M']), int32(['M']), 5),
    new TypeError('Cannot apply scatterLast: updates must be float32, got int32[M] and int32[M]'),
  ],
  [
    'to scatter updates of the wrong shape',
    () => scatterLast(float32(['M', 1]), int32(['M']), 5),
    new TypeError(
      'Cannot apply scatterLast: updates must have the shape of the index, got float32[M,1] and int32[M]',
    ),
  ],
  [
    'argmax of a scalar',
    () => argmax(float32([])),
    new TypeError('Cannot apply argmax: the input must have an axis, got float32[]'),
  ],
  [
    'top k of a scalar',
    () => topKIndices(float32([]), 1),
    new TypeError('Cannot apply topKIndices: the input must have an axis, got float32[]'),
  ],
  [
    'top 0',
    () => topKIndices(float32([5]), 0),
    new TypeError(
      'Cannot apply topKIndices: k = 0 must be between 1 and the last axis, got float32[5]',
    ),
  ],
  [
    'top k with k above the size',
    () => topKIndices(float32([5]), 6),
    new TypeError(
      'Cannot apply topKIndices: k = 6 must be between 1 and the last axis, got float32[5]',
    ),
  ],
  [
    'top k with a fractional k',
    () => topKIndices(float32(['V']), 1.5),
    new TypeError(
      'Cannot apply topKIndices: k = 1.5 must be between 1 and the last axis, got float32[V]',
    ),
  ],
]);

test('argmax() returns the first of equals, topKIndices() sorts from the largest', async () => {
  const x = input('x', ['M', 4]);
  const graph = makeGraph({ first: argmax(x), top: topKIndices(x, 3) });
  const feeds = { x: floats([1, 7, 7, 2, -1, -2, -4, -3], [2, 4]) };
  const { first, top } = await runGraph(graph, feeds);
  expect(first).toEqual([1, 0]);
  expect(top?.slice(0, 2).sort()).toEqual([1, 2]);
  expect(top?.slice(2)).toEqual([3, 0, 1, 3]);
});

test('integer and boolean rows can be gathered', async () => {
  const index = input('index', ['N'], 'int32');
  const graph = makeGraph({
    tokens: gatherRows(input('tokens', ['M'], 'int32'), index),
    flags: gatherRows(input('flags', ['M'], 'bool'), index),
  });
  const feeds = {
    tokens: integers([5, 6, 7], [3]),
    flags: tensor(Uint8Array.of(1, 0, 0), [3]),
    index: integers([2, 0], [2]),
  };
  expect(await runGraph(graph, feeds)).toEqual({ tokens: [7, 5], flags: [0, 1] });
});
