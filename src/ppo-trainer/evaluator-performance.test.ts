import { describe, expect, test } from 'vitest';
import { sumEach } from './evaluator-columns.ts';
import {
  type EvaluatedResponses,
  type PerformanceConfig,
  performanceOf,
} from './evaluator-performance.ts';

const config: PerformanceConfig = {
  evalBestOf: 2,
  klCoef: 0.5,
  klEstimator: 'k1',
  klPlacement: 'reward',
  rewardPlacement: 'final',
  maxNewTokens: 5,
  gamma: 0.5,
};

/** Two prompts with two sampled responses each, of 5, 1, 2 and 1 tokens. */
const responses: EvaluatedResponses = {
  greedyScores: Float32Array.of(2, 4),
  refScores: Float32Array.of(2, 1),
  tokens: [[7, 7, 7, 7, 7], [3], [4, 5], [6]].map((ids) => Int32Array.from(ids)),
  scores: Float32Array.of(1, 3, 0, 4),
  shaped: { scores: Float32Array.of(1, 3, 0, 4) },
  columns: {
    offsets: Int32Array.of(0, 5, 6, 8, 9),
    logratios: Float32Array.of(0, 0, 0, 0, 2, -2, 4, 0, 0),
    entropies: Float32Array.of(1, 1, 1, 1, 1, 2, 2, 2, 7),
    values: undefined,
  },
};

/** r of the four responses: [0, 0, 0, 0, 1 − 1], [3 + 1], [−2, 0], [4]. */
const returns = [0, 0, 0, 0, 0, 4, -2, 0, 4];

const withValues = (values: readonly number[], changes: Partial<EvaluatedResponses> = {}) => ({
  ...responses,
  ...changes,
  columns: { ...responses.columns, values: Float32Array.from(values) },
});

describe('performanceOf()', () => {
  test('gives the hand-worked numbers', () => {
    const { rewardStd, repetition, ...exact } = performanceOf(responses, config);
    expect(exact).toEqual({
      greedyReward: 3,
      reward: 2,
      responses: 4,
      bestOfN: 3.5,
      winRate: 0.75,
      kl: 1,
      entropy: 2,
      length: 2.25,
      explainedVariance: Number.NaN,
    });
    expect(rewardStd).toBeCloseTo(Math.sqrt(10 / 3), 12);
    expect(repetition).toBeCloseTo(2 / 3 / 4, 12);
  });

  test('values that are the returns explain them all', () => {
    expect(performanceOf(withValues(returns), config).explainedVariance).toBe(1);
  });

  test('half the returns explain three quarters of their variance', () => {
    const halves = returns.map((g) => g / 2);
    expect(performanceOf(withValues(halves), config).explainedVariance).toBeCloseTo(0.75, 12);
  });

  test('a penalty in the loss stays out of the returns', () => {
    const plain = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 3, 0, 0, 4];
    const performance = performanceOf(withValues(plain), { ...config, klPlacement: 'loss' });
    expect(performance.explainedVariance).toBe(1);
  });

  test('returns have the estimator of training, while the KL is always k1', () => {
    // ½d² is 2 for ±2 and 8 for 4: r = [0, 0, 0, 0, 1 − 1], [3 − 1], [−4, 0], [4].
    const values = [0, 0, 0, 0, 0, 2, -4, 0, 4];
    const { explainedVariance, kl } = performanceOf(withValues(values), {
      ...config,
      klEstimator: 'k2',
    });
    expect(explainedVariance).toBe(1);
    expect(kl).toBe(1);
  });

  test('a score after the end is one step further away, except at maxNewTokens', () => {
    // The first response has five tokens, the most there may be: its score stands on the last.
    const values = [0, 0, 0, 0, 0, 1 + 3 / 2, -2, 0, 4 / 2];
    const performance = performanceOf(withValues(values), {
      ...config,
      rewardPlacement: 'after-final',
    });
    expect(performance.explainedVariance).toBe(1);
  });

  test('values foresee shaped scores, and the reward is the mean of plain ones', () => {
    const shaped = withValues([0, 0, 0, 0, 0, 2, -2, 0, 3], {
      shaped: { scores: Float32Array.of(1, 1, 0, 3) },
    });
    const { explainedVariance, reward } = performanceOf(shaped, config);
    expect(explainedVariance).toBe(1);
    expect(reward).toBe(2);
  });
});

test('values foresee scores of tokens where they stand', () => {
  const tokenScores = Float32Array.of(4, 0, 0, 0, 0, 0, 0, 0, 0);
  const plain = { ...config, klCoef: 0, gamma: 1 };
  const shaped = { scores: Float32Array.of(1, 3, 0, 4), tokenScores };
  const values = Float32Array.of(5, 1, 1, 1, 1, 3, 0, 0, 4);
  const { explainedVariance } = performanceOf(
    { ...responses, shaped, columns: { ...responses.columns, values } },
    plain,
  );
  expect(explainedVariance).toBe(1);
});

test('sumEach() gives the hand-worked numbers', () => {
  expect(sumEach(Float32Array.of(1, 2, 5), Int32Array.of(0, 2, 3))).toEqual([3, 5]);
  expect(sumEach(new Float32Array(0), Int32Array.of(0))).toEqual([]);
});
