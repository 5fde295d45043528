import { testRejections } from '../../../../test/helpers/engine/test-rejections.ts';
import { constant, input } from './source.ts';

testRejections('sources reject', [
  [
    'an input with an invalid size',
    () => input('x', ['T*B']),
    new RangeError(
      'Cannot use "T*B" as a size: it must be a whole number ≥ 0 or a canonical sum of products of symbols such as B*T',
    ),
  ],
  [
    'a constant of the wrong size',
    () => constant(Float32Array.of(1, 2, 3), { shape: [2] }),
    new RangeError('Cannot create a float32[2] constant: it must have 8 bytes, got 12'),
  ],
  [
    'a constant with too few bytes in a file',
    () => constant({ file: 'weights', offset: 0, length: 6 }, { dtype: 'bfloat16', shape: [2, 2] }),
    new RangeError('Cannot create a bfloat16[2,2] constant: it must have 8 bytes, got 6'),
  ],
  [
    'a constant in the wrong array type',
    () => constant(Int32Array.of(1, 2), { shape: [2] }),
    new TypeError(
      'Cannot create a float32 constant: its data must be a Float32Array, got Int32Array',
    ),
  ],
  [
    'a constant of unknown size',
    () => constant(Float32Array.of(1), { shape: ['M'] }),
    new RangeError('Cannot create a float32[M] constant: its sizes must be numbers'),
  ],
]);
