import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { readTrlGolden } from '../../test/helpers/trl-golden.ts';
import { moments, whiten, whitenWith } from './whiten.ts';

const pair = Float32Array.of(1, 3);

describe('moments()', () => {
  test('matches the worked example', () => {
    expect(moments(pair, 'biased')).toEqual({ mean: 2, variance: 1 });
    expect(moments(pair, 'unbiased')).toEqual({ mean: 2, variance: 2 });
  });

  test.each(['biased', 'unbiased'] as const)(
    'has a %s variance of 0 for one number or none',
    (kind) => {
      expect(moments([7], kind)).toEqual({ mean: 7, variance: 0 });
      expect(moments([], kind)).toEqual({ mean: 0, variance: 0 });
    },
  );

  test('keeps a variance that is small relative to the mean', () => {
    expect(moments([1e8, 1e8 + 2], 'biased').variance).toBe(1);
  });
});

test('whitenWith() uses the given mean and standard deviation', () => {
  const options = { mean: 1, std: 2 };
  const values = Float32Array.of(1, 5);
  expect([...whitenWith(values, { ...options, shiftMean: true })]).toEqual([0, 2]);
  expect([...whitenWith(values, { ...options, shiftMean: false })]).toEqual([1, 3]);
});

describe('whiten()', () => {
  test.each([
    ['biased', true, [-1, 1]],
    ['biased', false, [1, 3]],
    ['unbiased', true, [-Math.SQRT1_2, Math.SQRT1_2]],
    ['unbiased', false, [1.292893, 2.707107]],
  ] as const)('of [1, 3], %s, with shiftMean %s is %j', (variance, shiftMean, expected) => {
    const whitened = whiten(pair, { variance, shiftMean });
    expectClose(whitened, { expected, within: 1e-6, label: 'whitened' });
    expect([...pair]).toEqual([1, 3]);
  });

  test('turns a single number into 0, or keeps it without shiftMean', () => {
    for (const variance of ['biased', 'unbiased'] as const) {
      expect([...whiten(Float32Array.of(7), { variance, shiftMean: true })]).toEqual([0]);
      expect([...whiten(Float32Array.of(7), { variance, shiftMean: false })]).toEqual([7]);
    }
  });

  test('of equal numbers is 0', () => {
    const same = new Float32Array(5).fill(0.1);
    const whitened = whiten(same, { variance: 'unbiased', shiftMean: true });
    expectClose(whitened, { expected: [0, 0, 0, 0, 0], within: 1e-9, label: 'whitened' });
  });

  test('returns mean 0 and standard deviation 1', () => {
    const grid = fc.integer({ min: -4000, max: 4000 }).map((k) => k / 64);
    fc.assert(
      fc.property(fc.uniqueArray(grid, { minLength: 2, maxLength: 40 }), (numbers) => {
        const options = { variance: 'biased', shiftMean: true } as const;
        const { mean, variance } = moments(whiten(Float32Array.from(numbers), options), 'biased');
        expect(mean).toBeCloseTo(0, 5);
        // The added 1e-8 matters if the numbers differ by only 1/64.
        expect(variance).toBeCloseTo(1, 3);
      }),
    );
  });

  test("matches TRL's whitened rewards", () => {
    const { outputs, steps } = readTrlGolden('3-whiten-rewards');
    const rewards = whiten(steps(outputs.rewards_before_whitening), {
      variance: 'unbiased',
      shiftMean: false,
    });
    expectClose(rewards, { expected: steps(outputs.rewards), within: 1e-5, label: 'rewards' });
  });
});
