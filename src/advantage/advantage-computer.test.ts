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
} from './advantage-computer.ts';
import { advantageEstimators } from './estimators.ts';

const defaults = resolvePPOConfig();
const makeComputer = (config: Partial<AdvantageConfig> = {}) =>
  new AdvantageComputer({ ...defaults, whitenAdvantages: false, ...config });

describe('one sequence', () => {
  test('AdvantageComputer gives the hand-worked numbers of one sequence', () => {
    const computer = makeComputer();
    expect([...computer.computeTdErrors([1, 2], [4, 2], 0.5)]).toEqual([-2, 0]);
    expect([...computer.computeGaeAdvantages([0, 0, 0.5], 1, 0.5)]).toEqual([0.125, 0.25, 0.5]);
    expect([...computer.computeReturns([0.125, 0.25, 0.5], [0.5, 0.5, 0.5])]).toEqual([
      0.625, 0.75, 1,
    ]);
  });

  test("AdvantageComputer takes γ and λ from the config: the documents' 0.99 and 0.95", () => {
    const computer = makeComputer();
    const errors = computer.computeTdErrors([0, 1], [0, 1]);
    expectClose(errors, { expected: [0.99, 0], within: 1e-7, label: 'TD errors' });
    const advantages = computer.computeGaeAdvantages([0, 1]);
    expectClose(advantages, { expected: [0.99 * 0.95, 1], within: 1e-7, label: 'advantages' });
  });
});

/** Two responses to one prompt, of 3 tokens and 1, and as many steps. */
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
  ] as const)('computeAdvantages() by %s gives A = %j and G = %j', (name, A, G) => {
    const computer = makeComputer({ advantageEstimator: name, gamma: 1, lam: 0.5 });
    const { advantages, returns } = computer.computeAdvantages(pair);
    expectClose(advantages, { expected: A, within: 1e-6, label: 'A' });
    expectClose(returns, { expected: G, within: 1e-6, label: 'G' });
  });

  test('computeAdvantages() by reinforce++ discounts', () => {
    const computer = makeComputer({ advantageEstimator: 'reinforce++', gamma: 0.5 });
    expect([...computer.computeAdvantages(pair).advantages]).toEqual([0.25, 0.5, 1, 3]);
  });

  test.each(['gae', 'reinforce++'] as const)(
    'whitenAdvantages whitens advantages of %s, and not their returns',
    (advantageEstimator) => {
      const plain = makeComputer({ advantageEstimator }).computeAdvantages(pair);
      const whitened = makeComputer({
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
    'whitenAdvantages leaves advantages of %s, which are relative to their group',
    (advantageEstimator) => {
      const plain = makeComputer({ advantageEstimator }).computeAdvantages(pair);
      const config = { advantageEstimator, whitenAdvantages: true };
      expect(makeComputer(config).computeAdvantages(pair)).toEqual(plain);
    },
  );

  test('a step after the last token counts in returns and is no advantage', () => {
    const input = {
      ...pair,
      stepOffsets: Int32Array.of(0, 4, 6),
      rewards: Float32Array.of(0, 0, 0, 1, 0, 3),
      values: Float32Array.of(0.5, 0.5, 0.5, 0.5, 1, 1),
    };
    const { advantages, returns } = makeComputer({ gamma: 1, lam: 0.5 }).computeAdvantages(input);
    expect([...advantages]).toEqual([0.0625, 0.125, 0.25, 1]);
    expect([...returns]).toEqual([0.5625, 0.625, 0.75, 1, 2, 3]);
    const whitened = makeComputer({
      gamma: 1,
      lam: 0.5,
      whitenAdvantages: true,
    }).computeAdvantages(input).advantages;
    const { mean, variance } = moments(whitened, 'biased');
    expect(mean).toBeCloseTo(0, 6);
    expect(variance).toBeCloseTo(1, 6);
  });

  test('computeAdvantages() says what whitening took off, where it did', () => {
    // A = ⅛, ¼, ½, 2 has mean 23/32 and squares that sum to 277/64: σ² = 277/256 − (23/32)² = 579/1024.
    const config = { gamma: 1, lam: 0.5, whitenAdvantages: true };
    const { whitening } = makeComputer(config).computeAdvantages(pair);
    expect(whitening).toEqual({
      mean: 23 / 32,
      std: expect.closeTo(Math.sqrt(579 / 1024), 7),
    });
    const rloo = makeComputer({ ...config, advantageEstimator: 'rloo' });
    expect(rloo.computeAdvantages(pair).whitening).toBeUndefined();
    expect(makeComputer().computeAdvantages(pair).whitening).toBeUndefined();
  });

  test('whitenRewards scales rewards over steps and keeps their mean', () => {
    // Rewards 0, 0, 1, 3 have μ = 1 and σ² = 1.5; G = A + V is Σr where γ = λ = 1.
    const scale = 1 / Math.sqrt(1.5);
    const [low, middle, high] = [1 - scale, 1, 1 + 2 * scale];
    const { returns, whitenedRewards } = makeComputer({
      whitenRewards: true,
      gamma: 1,
      lam: 1,
    }).computeAdvantages(pair);
    expectClose(whitenedRewards!, { expected: [low, low, middle, high], within: 1e-6, label: 'r' });
    const expected = [2 * low + middle, low + middle, middle, high];
    expectClose(returns, { expected, within: 1e-6, label: 'G' });
  });

  test('computeAdvantages() refuses columns of other lengths', () => {
    const computer = makeComputer();
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

/** A rollout of the given steps; the last `extra` of each sequence come after its tokens. */
function rolloutOf(steps: readonly (readonly [number, number])[][], extra: number): AdvantageInput {
  return {
    sequences: steps.map(() => ({ promptIdx: 0 })),
    offsets: offsetsOf(steps.map(({ length }) => length - extra)),
    stepOffsets: offsetsOf(steps.map(({ length }) => length)),
    rewards: Float32Array.from(steps.flat().map(([r]) => r)),
    values: Float32Array.from(steps.flat().map(([, v]) => v)),
  };
}

test.each([0, 1])('a rollout with %d steps after the end is its sequences, each alone', (extra) => {
  const rollouts = fc.array(sequenceOf(extra), { minLength: 1, maxLength: 5 });
  for (const advantageEstimator of ['gae', 'reinforce++'] as const) {
    const computer = makeComputer({ advantageEstimator });
    fc.assert(
      fc.property(rollouts, (steps) => {
        const whole = computer.computeAdvantages(rolloutOf(steps, extra));
        const alone = steps.map((one) => computer.computeAdvantages(rolloutOf([one], extra)));
        expect([...whole.advantages]).toEqual(alone.flatMap(({ advantages }) => [...advantages]));
        expect([...whole.returns]).toEqual(alone.flatMap(({ returns }) => [...returns]));
      }),
    );
  }
});

test.each(Object.keys(advantageEstimators) as (keyof typeof advantageEstimators)[])(
  'the order of sequences does not matter to %s',
  (advantageEstimator) => {
    const computer = makeComputer({ advantageEstimator });
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
