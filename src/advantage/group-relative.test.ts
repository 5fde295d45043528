import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import {
  groupAdvantages,
  grpoAdvantages,
  reinforceAdvantages,
  rlooAdvantages,
} from './group-relative.ts';

describe('rlooAdvantages()', () => {
  test('matches the worked example', () => {
    expect(rlooAdvantages([1, 2, 6])).toEqual([-3, -1.5, 4.5]);
  });

  test('sums to 0', () => {
    const returns = fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(returns, (R) => {
        expect(rlooAdvantages(R).reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
      }),
    );
  });
});

describe('grpoAdvantages()', () => {
  test.each([
    ['biased', [-0.9999, 0.9999]],
    ['unbiased', [-0.707057, 0.707057]],
  ] as const)('of [1, 3] with %s variance is %j', (whitening, expected) => {
    const advantages = grpoAdvantages([1, 3], whitening);
    expectClose(advantages, { expected, within: 1e-6, label: 'advantages' });
  });
});

test.each([
  ['rlooAdvantages()', rlooAdvantages],
  ['grpoAdvantages()', grpoAdvantages],
])('%s is exactly 0 for equal returns', (_, advantages) => {
  for (const r of [0.1, 1 / 3, -7e5, 0]) {
    expect(advantages([r, r, r], 'unbiased')).toEqual([0, 0, 0]);
  }
});

describe('groupAdvantages()', () => {
  const sequences = [0, 1, 0, 1].map((promptIdx) => ({ promptIdx }));
  const options = { advantage: rlooAdvantages, whitening: 'biased' } as const;

  test('compares responses to the same prompt, adjacent or not', () => {
    const advantages = groupAdvantages(
      {
        sequences,
        stepOffsets: Int32Array.of(0, 2, 3, 4, 7),
        rewards: Float32Array.of(1, 2, 10, 5, 1, 1, 2),
      },
      options,
    );
    // R = 3 and 5 for prompt 0, 10 and 4 for prompt 1.
    expect([...advantages]).toEqual([-2, -2, 6, 2, -6, -6, -6]);
  });

  test('rejects a prompt with one response', () => {
    expect(() =>
      groupAdvantages(
        {
          sequences: sequences.slice(0, 3),
          stepOffsets: Int32Array.of(0, 1, 2, 3),
          rewards: Float32Array.of(1, 2, 3),
        },
        options,
      ),
    ).toThrow(
      'Cannot compare responses: prompt 1 must have at least 2, got 1; set samplesPerPrompt to 2 or more',
    );
  });
});

test('reinforceAdvantages() is the discounted reward-to-go of each sequence', () => {
  const rewards = Float32Array.of(0, 0, 1, 3);
  const options = { offsets: Int32Array.of(0, 3, 4), gamma: 0.5 };
  expect([...reinforceAdvantages(rewards, options)]).toEqual([0.25, 0.5, 1, 3]);
});
