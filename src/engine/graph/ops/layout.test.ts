import { float32, int32, testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { broadcastTo, concat, pad, reshape, slice, split, transpose } from './layout.ts';

testRejections('layout ops reject', [
  [
    'to reshape to a different number of elements',
    () => reshape(float32(['M', 4]), ['M', 3]),
    new TypeError('Cannot apply reshape: [M,3] must have as many elements, got float32[M,4]'),
  ],
  [
    'to reshape to an invalid size',
    () => reshape(float32([4]), [-1, 4]),
    new RangeError(
      'Cannot use "-1" as a size: it must be a whole number ≥ 0 or a canonical sum of products of symbols such as B*T',
    ),
  ],
  [
    'to broadcast to a different size',
    () => broadcastTo(float32([3]), [2, 4]),
    new TypeError(
      'Cannot apply broadcastTo: shapes must be equal or 1 on every axis, got float32[3] and float32[2,4]',
    ),
  ],
  [
    'to broadcast to a smaller shape',
    () => broadcastTo(float32([2, 3]), [1, 3]),
    new TypeError('Cannot apply broadcastTo: the input must broadcast to [1,3], got float32[2,3]'),
  ],
  [
    'to broadcast to fewer axes',
    () => broadcastTo(float32([2, 3]), [3]),
    new TypeError('Cannot apply broadcastTo: the input must broadcast to [3], got float32[2,3]'),
  ],
  [
    'a permutation that names an axis twice',
    () => transpose(float32([2, 3]), [0, 0]),
    new TypeError('Cannot apply transpose: [0,0] must name every axis once, got float32[2,3]'),
  ],
  [
    'a permutation that is too short',
    () => transpose(float32([2, 3, 4]), [1, 0]),
    new TypeError('Cannot apply transpose: [1,0] must name every axis once, got float32[2,3,4]'),
  ],
  [
    'a slice past the end',
    () => slice(float32([2, 3]), { start: 1, end: 4 }),
    new TypeError('Cannot apply slice: 1:4 must be inside axis 1, got float32[2,3]'),
  ],
  [
    'a slice that ends before it starts',
    () => slice(float32([5]), { start: 3, end: 2 }),
    new TypeError('Cannot apply slice: 3:2 must be inside axis 0, got float32[5]'),
  ],
  [
    'a slice that starts before the axis',
    () => slice(float32(['M']), { start: -1 }),
    new TypeError('Cannot apply slice: -1:M must be inside axis 0, got float32[M]'),
  ],
  [
    'a slice past a symbolic end',
    () => slice(float32(['M', 2]), { axis: 0, end: 'M+1' }),
    new TypeError('Cannot apply slice: 0:M+1 must be inside axis 0, got float32[M,2]'),
  ],
  [
    'a slice of an unknown axis',
    () => slice(float32([2]), { axis: 1 }),
    new RangeError('Cannot apply slice: axis 1 is not an axis of a rank-1 tensor'),
  ],
  [
    'negative padding',
    () => pad(float32([2, 3]), { before: 1, after: -1 }),
    new TypeError('Cannot apply pad: before and after must be ≥ 0 (1 and -1), got float32[2,3]'),
  ],
  [
    'to pad a scalar',
    () => pad(float32([]), { before: 1 }),
    new RangeError('Cannot apply pad: axis -1 is not an axis of a rank-0 tensor'),
  ],
  [
    'to concatenate shapes that differ on another axis',
    () => concat([float32([2, 3]), float32([4, 3])]),
    new TypeError(
      'Cannot apply concat: inputs must agree on dtype and on every axis but 1, got float32[2,3] and float32[4,3]',
    ),
  ],
  [
    'to concatenate different dtypes',
    () => concat([float32([2]), int32([2])]),
    new TypeError(
      'Cannot apply concat: inputs must agree on dtype and on every axis but 0, got float32[2] and int32[2]',
    ),
  ],
  [
    'to concatenate different ranks',
    () => concat([float32([2, 3]), float32([2])]),
    new TypeError(
      'Cannot apply concat: inputs must agree on dtype and on every axis but 1, got float32[2,3] and float32[2]',
    ),
  ],
  [
    'to concatenate along an unknown axis',
    () => concat([float32([2]), float32([2])], 1),
    new RangeError('Cannot apply concat: axis 1 is not an axis of a rank-1 tensor'),
  ],
  [
    'to concatenate nothing',
    () => concat([]),
    new TypeError('Cannot apply concat: there must be at least one input'),
  ],
  [
    'to split into sizes that do not add up',
    () => split(float32([2, 5]), [2, 2]),
    new TypeError('Cannot apply split: sizes must add up to axis -1 (2 + 2), got float32[2,5]'),
  ],
]);
