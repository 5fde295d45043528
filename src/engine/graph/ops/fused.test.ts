import { float32, int32, testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { rmsNorm, rope, silu, softmax } from './fused.ts';

testRejections('fused ops reject', [
  [
    'softmax of integers',
    () => softmax(int32([2])),
    new TypeError('Cannot apply softmax: inputs must be float32, got int32[2]'),
  ],
  [
    'softmax of a scalar',
    () => softmax(float32([])),
    new TypeError('Cannot apply softmax: the input must have an axis, got float32[]'),
  ],
  [
    'SiLU of integers',
    () => silu(int32([2])),
    new TypeError('Cannot apply silu: inputs must be float32, got int32[2]'),
  ],
  [
    'a norm whose weight has the wrong size',
    () => rmsNorm(float32(['M', 4]), float32([3]), 1e-6),
    new TypeError(
      'Cannot apply rmsNorm: the weight must have the shape of the last axis, got float32[M,4] and float32[3]',
    ),
  ],
  [
    'the norm of a scalar',
    () => rmsNorm(float32([]), float32([]), 1e-6),
    new TypeError(
      'Cannot apply rmsNorm: the weight must have the shape of the last axis, got float32[] and float32[]',
    ),
  ],
  [
    'a norm of integers',
    () => rmsNorm(int32(['M', 4]), float32([4]), 1e-6),
    new TypeError('Cannot apply rmsNorm: inputs must be float32, got int32[M,4] and float32[4]'),
  ],
  [
    'to rotate without heads',
    () => rope(float32(['M', 4]), float32(['M', 2]), float32(['M', 2])),
    new TypeError(
      'Cannot apply rope: inputs must be [M,heads,D] and two tables [M,D/2], got float32[M,4] and float32[M,2] and float32[M,2]',
    ),
  ],
  [
    'tables of the full head size',
    () => rope(float32(['M', 2, 4]), float32(['M', 4]), float32(['M', 4])),
    new TypeError(
      'Cannot apply rope: inputs must be [M,heads,D] and two tables [M,D/2], got float32[M,2,4] and float32[M,4] and float32[M,4]',
    ),
  ],
  [
    'heads of an odd size',
    () => rope(float32(['M', 2, 3]), float32(['M', 1]), float32(['M', 1])),
    new TypeError(
      'Cannot apply rope: inputs must be [M,heads,D] and two tables [M,D/2], got float32[M,2,3] and float32[M,1] and float32[M,1]',
    ),
  ],
]);
