import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { length } from './length.ts';
import { scoreLength } from './length-band.ts';

const eight = 'one two three four five six seven eight';

describe('length', () => {
  test('is 1 within the tolerance, n/a below and b/n above', () => {
    const reward = length({ target: 3, tolerance: 1 });
    expect(samplesOf('', 'one', 'one two', 'one two three four', eight).map(reward)).toEqual([
      0, 0.5, 1, 1, 0.5,
    ]);
  });

  test('without a tolerance only the target scores 1', () => {
    expect(samplesOf('a b', 'a b c d', eight).map(length({ target: 4 }))).toEqual([0.5, 1, 0.5]);
  });

  test('a tolerance beyond the target does not reward nothing', () => {
    expect(samplesOf('', 'a').map(length({ target: 2, tolerance: 5 }))).toEqual([0, 1]);
  });

  test('needs a target', () => {
    expect(() => length({} as never)).toThrow(
      'Cannot use the reward length: target must be a whole number ≥ 1, got undefined',
    );
  });
});

test('scoreLength() is the distance from the band as a ratio', () => {
  expect([0, 3, 6, 16].map((n) => scoreLength(n, { from: 4, to: 8 }))).toEqual([0, 0.75, 1, 0.5]);
});
