import { float32, testRefusals } from '../../../../test/helpers/engine/test-refusals.ts';
import { attention } from './attention.ts';

testRefusals('attention refuses', [
  [
    'query heads that do not divide into groups',
    () =>
      attention({
        q: float32([1, 3, 4, 2]),
        k: float32([1, 2, 4, 2]),
        v: float32([1, 2, 4, 2]),
        bias: float32([4, 4]),
      }),
    new TypeError(
      'Cannot apply attention: heads of q must be a multiple of those of k and v, got float32[1,3,4,2] and float32[1,2,4,2] and float32[1,2,4,2]',
    ),
  ],
]);
