import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { offsetsOf } from '../columns/index.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { moments } from '../reward-kl/whiten.ts';
import {
  AdvantageComputer,
  type AdvantageConfig,
  type AdvantageInput,
  advantageEstimators,
} from './advantage-computer.ts';

const defaults = resolvePPOConfig();
const createComputer = (config: Partial<AdvantageConfig> = {}) =>
  new AdvantageComputer({ ...defaults, whitenAdvantages: false, ...config });

describe('one sequence', () => {
  test('matches the worked examples', () => {
    const computer = createComputer();
    expect([...computer.computeTdErrors([1, 2], [4, 2], 0.5)]).toEqual([-2, 0]);
    expect([...computer.computeGaeAdvantages([0, 0, 0.5], 1, 0.5)]).toEqual([0.125, 0.25, 0.5]);
    expect([...computer.computeReturns([0.125, 0.25, 0.5], [0.5, 0.5, 0.5])]).toEqual([
      0.625, 0.75, 1,
    ]);
  });

  test('uses γ and λ of the config, 0.99 and 0.95 by default', () => {
    const computer = createComputer();
    const errors = computer.computeTdErrors([0, 1], [0, 1]);
    expectClose(errors, { expected: [0.99, 0], within: 1e-7, label: 'TD errors' });
    const advantages = computer.computeGaeAdvantages([0, 1]);
    expectClose(advantages, { expected: [0.99 * 0.95, 1], within: 1e-7, label: 'advantages' });
  });
});

/** Two responses to one prompt, with 3 tokens and 1 token, and as many steps. */
const pair: AdvantageInput = {
  sequences: [{ promptIdx: 0 }, { promptIdx: 0 }],
  offsets: Int32Array.of(0, 3, 4),
  stepOffsets: Int32Array.of(0, 3, 4),
  rewards: Float32Array.of(0, 0, 1, 3),
  values: Float32Array.of(0.5, 0.5, 0.5, 1),
};

describe('a rollout', () => {
  test.each([
    ['gae', [0.125, 0.25, 0.5, 2], [0.625, 0.75, 1, 3]],
    ['rloo', [-2, -2, -2, 2], [1, 1, 1, 3]],
    ['grpo', [-0.9999, -0.9999, -0.9999, 0.9999], [1, 1, 1, 3]],
    ['reinforce++', [1, 1, 1, 3], [1, 1, 1, 3]],
  ] as const)('computeAdvantages() by %s returns A = %j and G = %j', (name, A, G) => {
    const computer = createComputer({ advantageEstimator: name, gamma: 1, lam: 0.5 });
    const { advantages, returns } = computer.computeAdvantages(pair);
    expectClose(advantages, { expected: A, within: 1e-6, label: 'A' });
    expectClose(returns, { expected: G, within: 1e-6, label: 'G' });
  });

  test('computeAdvantages() by reinforce++ discounts rewards', () => {
    const computer = createComputer({ advantageEstimator: 'reinforce++', gamma: 0.5 });
    expect([...computer.computeAdvantages(pair).advantages]).toEqual([0.25, 0.5, 1, 3]);
  });

  test.each(['gae', 'reinforce++'] as const)(
    'whitenAdvantages whitens advantages of %s but not returns',
    (advantageEstimator) => {
      const plain = createComputer({ advantageEstimator }).computeAdvantages(pair);
      const whitened = createComputer({
        advantageEstimator,
        whitenAdvantages: true,
      }).computeAdvantages(pair);
      const { mean, variance } = moments(plain.advantages, 'biased');
      const expected = plain.advantages.map((a) => (a - mean) / Math.sqrt(variance));
      expectClose(whitened.advantages, { expected, within: 1e-6, label: 'A' });
      expect(whitened.returns).toEqual(plain.returns);
    },
  );

  test.each(['rloo', 'grpo'] as const)(
    'whitenAdvantages does not change advantages of %s, which are relative to their group',
    (advantageEstimator) => {
      const plain = createComputer({ advantageEstimator }).computeAdvantages(pair);
      const config = { advantageEstimator, whitenAdvantages: true };
      expect(createComputer(config).computeAdvantages(pair)).toEqual(plain);
    },
  );

  test('a step after the last token has a return but no advantage', () => {
    const input = {
      ...pair,
      stepOffsets: Int32Array.of(0, 4, 6),
      rewards: Float32Array.of(0, 0, 0, 1, 0, 3),
      values: Float32Array.of(0.5, 0.5, 0.5, 0.5, 1, 1),
    };
    const { advantages, returns } = createComputer({ gamma: 1, lam: 0.5 }).computeAdvantages(input);
    expect([...advantages]).toEqual([0.0625, 0.125, 0.25, 1]);
    expect([...returns]).toEqual([0.5625, 0.625, 0.75, 1, 2, 3]);
    const whitened = createComputer({
      gamma: 1,
      lam: 0.5,
      whitenAdvantages: true,
    }).computeAdvantages(input).advantages;
    const { mean, variance } = moments(whitened, 'biased');
    expect(mean).toBeCloseTo(0, 6);
    expect(variance).toBeCloseTo(1, 6);
  });

  test('computeAdvantages() returns the mean and standard deviation that whitening removed, if any', () => {
    // A = ⅛, ¼, ½, 2 has mean 23/32 and squares that sum to 277/64: σ² = 277/256 − (23/32)² = 579/1024.
    const config = { gamma: 1, lam: 0.5, whitenAdvantages: true };
    const { whitening } = createComputer(config).computeAdvantages(pair);
    expect(whitening).toEqual({
      mean: 23 / 32,
      std: expect.closeTo(Math.sqrt(579 / 1024), 7),
    });
    const rloo = createComputer({ ...config, advantageEstimator: 'rloo' });
    expect(rloo.computeAdvantages(pair).whitening).toBeUndefined();
    expect(createComputer().computeAdvantages(pair).whitening).toBeUndefined();
  });

  test('whitenRewards scales rewards over all steps and keeps their mean', () => {
    // Rewards 0, 0, 1, 3 have μ = 1 and σ² = 1.5; G = A + V is Σr if γ = λ = 1.
    const scale = 1 / Math.sqrt(1.5);
    const [low, middle, high] = [1 - scale, 1, 1 + 2 * scale];
    const { returns, whitenedRewards } = createComputer({
      whitenRewards: true,
      gamma: 1,
      lam: 1,
    }).computeAdvantages(pair);
    expectClose(whitenedRewards!, { expected: [low, low, middle, high], within: 1e-6, label: 'r' });
    const expected = [2 * low + middle, low + middle, middle, high];
    expectClose(returns, { expected, within: 1e-6, label: 'G' });
  });

  test('computeAdvantages() rejects columns of the wrong length', () => {
    const computer = createComputer();
    expect(() => computer.computeAdvantages({ ...pair, rewards: Float32Array.of(1) })).toThrow(
      'Cannot compute advantages: rewards must have 4 elements, got 1',
    );
    expect(() => computer.computeAdvantages({ ...pair, sequences: [{ promptIdx: 0 }] })).toThrow(
      'Cannot compute advantages: offsets must have 2 elements, got 3',
    );
  });
});

const grid = fc.integer({ min: -64, max: 64 }).map((k) => k / 16);
const sequenceOf = (extra: number) =>
  fc.array(fc.tuple(grid, grid), { minLength: 1 + extra, maxLength: 6 + extra });

/** A rollout with these steps; the last `extra` of each sequence come after its tokens. */
function rolloutOf(steps: readonly (readonly [number, number])[][], extra: number): AdvantageInput {
  return {
    sequences: steps.map(() => ({ promptIdx: 0 })),
    offsets: offsetsOf(steps.map(({ length }) => length - extra)),
    stepOffsets: offsetsOf(steps.map(({ length }) => length)),
    rewards: Float32Array.from(steps.flat().map(([r]) => r)),
    values: Float32Array.from(steps.flat().map(([, v]) => v)),
  };
}

test.each([0, 1])(
  'with %d steps after the end, each sequence is computed independently',
  (extra) => {
    const rollouts = fc.array(sequenceOf(extra), { minLength: 1, maxLength: 5 });
    for (const advantageEstimator of ['gae', 'reinforce++'] as const) {
      const computer = createComputer({ advantageEstimator });
      fc.assert(
        fc.property(rollouts, (steps) => {
          const whole = computer.computeAdvantages(rolloutOf(steps, extra));
          const alone = steps.map((one) => computer.computeAdvantages(rolloutOf([one], extra)));
          expect([...whole.advantages]).toEqual(alone.flatMap(({ advantages }) => [...advantages]));
          expect([...whole.returns]).toEqual(alone.flatMap(({ returns }) => [...returns]));
        }),
      );
    }
  },
);

test.each(Object.keys(advantageEstimators) as (keyof typeof advantageEstimators)[])(
  '%s does not depend on the order of sequences',
  (advantageEstimator) => {
    const computer = createComputer({ advantageEstimator });
    const rollouts = fc.array(sequenceOf(0), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(rollouts, (steps) => {
        const bySequence = (of: typeof steps) => {
          const { advantages } = computer.computeAdvantages(rolloutOf(of, 0));
          const { offsets } = rolloutOf(of, 0);
          return of.map((_, i) => [...advantages.subarray(offsets[i]!, offsets[i + 1]!)]);
        };
        const reversed = bySequence(steps.toReversed()).toReversed();
        const expected = bySequence(steps).flat();
        expectClose(reversed.flat(), { expected, within: 1e-5, label: 'A' });
      }),
    );
  },
);
