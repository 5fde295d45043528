import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  carriesScore,
  klOf,
  placedScore,
  readBackRewards,
  recompute,
  whitened,
} from './arithmetic.ts';
import { readArithmeticConfig } from './arithmetic-config.ts';
import { makeColumns } from './test-columns.ts';

const config = readArithmeticConfig({ clipEpsilon: 0.2 });

describe('recompute()', () => {
  test('gae gives the hand-worked numbers', () => {
    expect(recompute(makeColumns(), config)).toEqual({
      rewards: [0, 0, 1],
      errors: [0, 0, 0.5],
      advantages: [0.125, 0.25, 0.5],
      returns: [0.625, 0.75, 1],
    });
  });

  test('after-final has one step more, whose value counts', () => {
    // δ = [0, 0, ½ − ½, 1 − ½]; A = [1/16, ⅛, ¼, ½]; G = A + ½.
    const columns = makeColumns({ rewards: [0, 0, 0, 1], values: [0.5, 0.5, 0.5, 0.5] });
    const { errors, advantages, returns } = recompute(columns, config);
    expect(errors).toEqual([0, 0, 0, 0.5]);
    expect(advantages).toEqual([0.0625, 0.125, 0.25, 0.5]);
    expect(returns).toEqual([0.5625, 0.625, 0.75, 1]);
  });

  test('γ discounts the next value', () => {
    const columns = makeColumns({ gamma: 0.5, lambda: 1, rewards: [1, 2], values: [4, 2] });
    const { errors, advantages } = recompute(columns, config);
    expect(errors).toEqual([-2, 0]);
    expect(advantages).toEqual([-2, 0]);
  });

  test('reinforce++ has rewards-to-go for advantages, and no TD errors', () => {
    const columns = makeColumns({ gamma: 0.5, values: [0, 0, 0] });
    const other = { ...config, advantageEstimator: 'reinforce++' };
    expect(recompute(columns, other)).toEqual({
      rewards: [0, 0, 1],
      errors: undefined,
      advantages: [0.25, 0.5, 1],
      returns: [0.25, 0.5, 1],
    });
  });

  test.each(['rloo', 'grpo'])('%s has no advantages of one response alone', (name) => {
    const other = { ...config, advantageEstimator: name };
    const { advantages, returns } = recompute(makeColumns(), other);
    expect(advantages).toBeUndefined();
    expect(returns).toEqual([1, 1, 1]);
  });
});

describe('readBackRewards()', () => {
  test('gives the hand-worked rewards', () => {
    expect(readBackRewards(makeColumns(), config)).toEqual([0, 0, 1]);
  });

  test.each(['gae', 'reinforce++'])('turns recompute() by %s round', (advantageEstimator) => {
    const grid = fc.integer({ min: -32, max: 32 }).map((k) => k / 8);
    const steps = fc.array(fc.tuple(grid, grid), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(steps, (of) => {
        const [rewards, values] = [of.map(([r]) => r), of.map(([, v]) => v)];
        const columns = makeColumns({ rewards, values, gamma: 0.75 });
        const plain = { ...config, advantageEstimator };
        const { returns } = recompute(columns, plain);
        const scaled = { ...columns, returns, rewards: rewards.map((r) => 3 * r) };
        readBackRewards(scaled, plain).forEach((r, t) => {
          expect(r).toBeCloseTo(rewards[t]!, 9);
        });
        recompute(scaled, { ...plain, whitenRewards: true }).returns.forEach((g, t) => {
          expect(g).toBeCloseTo(returns[t]!, 9);
        });
      }),
    );
  });
});

test('whitened() takes off mean and deviation', () => {
  expect(whitened(3, { mean: 1, std: 2 })).toBeCloseTo(1, 8);
  expect(whitened(1, { mean: 1, std: 0 })).toBe(0);
});

test.each([
  ['k1', Math.LN2],
  ['k2', 0.2402],
  ['k3', 0.1931],
])('klOf(ln 2) by %s is %f', (estimator, kl) => {
  expect(klOf(Math.log(2), estimator)).toBeCloseTo(kl, 4);
});

describe('placedScore()', () => {
  const columns = makeColumns();
  test('takes off the penalty of a missing stop, then cuts', () => {
    const shaped = { ...config, missingEosPenalty: 0.5, scoreClip: 1 };
    const place = (score: number | null, finished: boolean) =>
      placedScore({ columns, config: shaped, row: { score, finished } });
    expect(place(2, false)).toBe(1);
    expect(place(0.75, false)).toBe(0.25);
    expect(place(0.75, true)).toBe(0.75);
    expect(place(-4, true)).toBe(-1);
    expect(place(null, true)).toBeUndefined();
  });

  test('is not known where scores are normalised over other responses', () => {
    const row = { score: 1, finished: true };
    const normalised = { ...config, scoreNormalization: 'batch' };
    expect(placedScore({ columns, config: normalised, row })).toBeUndefined();
  });
});

test.each([
  ['final', [0, 0, 1], [false, false, true]],
  ['every', [1, 1, 1], [true, true, true]],
  ['after-final', [0, 0, 0, 1], [false, false, false, true]],
])('carriesScore() where rewards stand %s', (rewardPlacement, rewards, expected) => {
  const input = {
    columns: makeColumns({ rewards }),
    config: { ...config, rewardPlacement },
    row: undefined,
  };
  expect(rewards.map((_, step) => carriesScore(step, input))).toEqual(expected);
});

test('readArithmeticConfig() takes ε above 1 from clipEpsilon unless it has its own', () => {
  expect(config.clip).toEqual({ low: 0.2, high: 0.2, dual: undefined });
  const own = readArithmeticConfig({ clipEpsilon: 0.2, clipEpsilonHigh: 0.3, dualClip: 3 });
  expect(own.clip).toEqual({ low: 0.2, high: 0.3, dual: 3 });
  expect(readArithmeticConfig({}).clip).toBeUndefined();
  expect(readArithmeticConfig({ advantageEstimator: 7 }).advantageEstimator).toBe('gae');
});
