import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mean } from '../columns/index.ts';
import {
  bestOfN,
  type EvaluatedResponses,
  type PerformanceConfig,
  performanceOf,
  repetition,
  sumPerResponse,
  winRate,
} from './performance.ts';

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
  bySource: new Map([['a', Float32Array.of(2, 3, 1, 4)]]),
  finished: 3,
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
  test('returns the hand-worked numbers', () => {
    const { rewardStd, repetition, rewards, winRateInterval, ...exact } = performanceOf(
      responses,
      config,
    );
    expect(exact).toEqual({
      prompts: 2,
      // Both prompts have a mean of 2.
      rewardInterval: [2, 2],
      finishedRate: 0.75,
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
    expect(rewards).toEqual({ a: { mean: 2.5, std: Math.sqrt(5 / 3) } });
    expect(winRateInterval[0]).toBeCloseTo(0.1979, 4);
    expect(winRateInterval[1]).toBeCloseTo(0.9733, 4);
    expect(repetition).toBeCloseTo(2 / 3 / 4, 12);
  });

  test('values equal to the returns explain all of their variance', () => {
    expect(performanceOf(withValues(returns), config).explainedVariance).toBe(1);
  });

  test('half the returns explain three quarters of their variance', () => {
    const halves = returns.map((g) => g / 2);
    expect(performanceOf(withValues(halves), config).explainedVariance).toBeCloseTo(0.75, 12);
  });

  test('a penalty in the loss is not in the returns', () => {
    const plain = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 3, 0, 0, 4];
    const performance = performanceOf(withValues(plain), { ...config, klPlacement: 'loss' });
    expect(performance.explainedVariance).toBe(1);
  });

  test('returns use the KL estimator of training; the reported KL is always k1', () => {
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
    // The first response has five tokens, the maximum: its score is on the last.
    const values = [0, 0, 0, 0, 0, 1 + 3 / 2, -2, 0, 4 / 2];
    const performance = performanceOf(withValues(values), {
      ...config,
      rewardPlacement: 'after-final',
    });
    expect(performance.explainedVariance).toBe(1);
  });

  test('values predict shaped scores, and the reward is the mean of plain ones', () => {
    const shaped = withValues([0, 0, 0, 0, 0, 2, -2, 0, 3], {
      shaped: { scores: Float32Array.of(1, 1, 0, 3) },
    });
    const { explainedVariance, reward } = performanceOf(shaped, config);
    expect(explainedVariance).toBe(1);
    expect(reward).toBe(2);
  });
});

test('values predict scores of tokens at their positions', () => {
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

test('sumPerResponse() returns the hand-worked numbers', () => {
  expect(sumPerResponse(Float32Array.of(1, 2, 5), Int32Array.of(0, 2, 3))).toEqual([3, 5]);
  expect(sumPerResponse(new Float32Array(0), Int32Array.of(0))).toEqual([]);
});

const number = fc.double({ min: -1e3, max: 1e3, noNaN: true });
const numbers = fc.array(number, { minLength: 1, maxLength: 12 });
const pairs = fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 12 });

describe('bestOfN()', () => {
  test('returns the hand-worked number', () => {
    expect(bestOfN([1, 3, 0, -2], 2)).toBe(1.5);
  });

  test('is the mean for n = 1, otherwise the mean of the best scores, in any order', () => {
    fc.assert(
      fc.property(numbers, fc.nat(3), fc.nat(3), (scores, before, after) => {
        expect(bestOfN(scores, 1)).toBe(mean(scores));
        const worse = (score: number, count: number) => Array<number>(count).fill(score - 1);
        const all = scores.flatMap((score) => [
          ...worse(score, before),
          score,
          ...worse(score, after),
        ]);
        expect(bestOfN(all, before + 1 + after)).toBe(mean(scores));
      }),
    );
  });

  test('rejects scores that are not n per prompt', () => {
    expect(() => bestOfN([1, 2, 3], 2)).toThrow('Internal: 3 scores are not 2 per prompt');
  });
});

describe('winRate()', () => {
  test('returns the hand-worked number', () => {
    expect(winRate([1, 2, 3, 0], [0, 2, 5, 0])).toBe(0.5);
    expect(winRate([1, 2], [0, 2])).toBe(0.75);
  });

  test('of both sides adds up to 1', () => {
    fc.assert(
      fc.property(pairs, (both) => {
        const a = both.map(([first]) => first);
        const b = both.map(([, second]) => second);
        expect(winRate(a, b) + winRate(b, a)).toBeCloseTo(1, 12);
      }),
    );
  });

  test('rejects sides of different length', () => {
    expect(() => winRate([1], [1, 2])).toThrow('Internal: 1 scores and 2 reference scores');
  });
});

describe('repetition()', () => {
  test('returns the hand-worked numbers', () => {
    expect(repetition([[7, 7, 7, 7, 7]])).toBeCloseTo(2 / 3, 12);
    expect(repetition([[1, 2, 3, 1, 2, 3]])).toBe(0.25);
    expect(repetition([[7, 7, 7, 7, 7], [1, 2, 3, 1, 2, 3], [4]])).toBeCloseTo(11 / 36, 12);
  });

  test('is 0 for responses with at most one 3-gram', () => {
    expect(repetition([[], [1], [1, 1], [1, 1, 1]])).toBe(0);
  });

  test('distinguishes ids whose concatenated digits are equal', () => {
    expect(repetition([[1, 11, 1, 111, 1, 1]])).toBe(0);
  });

  test('counts, for each 3-gram, whether an earlier one is equal', () => {
    const responses = fc.array(fc.nat(2), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(responses, (tokens) => {
        const grams = tokens.slice(2).map((_, t) => tokens.slice(t, t + 3).join());
        const again = grams.filter((gram, t) => grams.indexOf(gram) < t);
        expect(repetition([tokens])).toBeCloseTo(again.length / grams.length, 12);
      }),
    );
  });
});
