import { testRefusals } from '../../../../test/helpers/engine/test-refusals.ts';
import { constant, input } from './source.ts';

testRefusals('sources refuse', [
  [
    'an input of a size that is none',
    () => input('x', ['T*B']),
    new RangeError(
      'Cannot use "T*B" as a size: it must be a whole number ≥ 0 or a canonical sum of products of symbols such as B*T',
    ),
  ],
  [
    'a constant of another size',
    () => constant(Float32Array.of(1, 2, 3), { shape: [2] }),
    new RangeError('Cannot make a float32[2] constant: it takes 8 bytes, got 12'),
  ],
  [
    'a constant of bytes in a file that are too few',
    () => constant({ file: 'weights', offset: 0, length: 6 }, { dtype: 'bfloat16', shape: [2, 2] }),
    new RangeError('Cannot make a bfloat16[2,2] constant: it takes 8 bytes, got 6'),
  ],
  [
    'a constant in an array of another kind',
    () => constant(Int32Array.of(1, 2), { shape: [2] }),
    new TypeError(
      'Cannot make a float32 constant: its data must be a Float32Array, got Int32Array',
    ),
  ],
  [
    'a constant of unknown size',
    () => constant(Float32Array.of(1), { shape: ['M'] }),
    new RangeError('Cannot make a float32[M] constant: its sizes must be numbers'),
  ],
]);
