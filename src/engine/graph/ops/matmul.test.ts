import { float32, int32, testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { adaptedLinear, matmul } from './matmul.ts';

testRejections('matmul rejects', [
  [
    'integers',
    () => matmul(float32([2, 3]), int32([3, 2])),
    new TypeError('Cannot apply matmul: inputs must be float32, got float32[2,3] and int32[3,2]'),
  ],
  [
    'a vector',
    () => matmul(float32([2, 3]), float32([3])),
    new TypeError(
      'Cannot apply matmul: inputs must have at least two axes, got float32[2,3] and float32[3]',
    ),
  ],
  [
    'different inner sizes',
    () => matmul(float32(['M', 3]), float32([4, 3])),
    new TypeError(
      'Cannot apply matmul: inner sizes must agree (3 ≠ 4), got float32[M,3] and float32[4,3]',
    ),
  ],
  [
    'different inner sizes after transposition',
    () => matmul(float32([3, 'M']), float32([3, 4]), { transA: true, transB: true }),
    new TypeError(
      'Cannot apply matmul: inner sizes must agree (3 ≠ 4), got float32[3,M] and float32[3,4]',
    ),
  ],
  [
    'batches that do not broadcast',
    () => matmul(float32([2, 5, 3]), float32([4, 3, 5])),
    new TypeError(
      'Cannot apply matmul: shapes must be equal or 1 on every axis, got float32[2,5,3] and float32[4,3,5]',
    ),
  ],
]);

testRejections('adaptedLinear rejects', [
  [
    'rows of the wrong width',
    () => {
      const adapter = { a: float32([2, 3]), b: float32([5, 2]), scaling: 1 };
      return adaptedLinear(float32(['M', 4]), float32([5, 3]), adapter);
    },
    new TypeError(
      'Cannot apply adaptedLinear: inputs must be [M,in], [out,in], [r,in] and [out,r], got float32[M,4] and float32[5,3] and float32[2,3] and float32[5,2]',
    ),
  ],
]);
