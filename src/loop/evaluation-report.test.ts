import { expect, test } from 'vitest';
import { evaluationMetrics, type Performance } from './evaluation-report.ts';

const performance: Performance = {
  prompts: 4,
  rewardInterval: [1, 3],
  rewards: { brevity: { mean: 2.5, std: 0.5 } },
  finishedRate: 0.75,
  winRateInterval: [0.2, 0.8],
  greedyReward: 1,
  reward: 2,
  rewardStd: 3,
  responses: 16,
  bestOfN: 4,
  winRate: 0.5,
  kl: 6,
  entropy: 7,
  length: 8,
  repetition: 0.9,
  explainedVariance: 0.25,
};

test('evaluationMetrics() names every measure', () => {
  expect(evaluationMetrics({ performance })).toEqual({
    'eval/greedy_reward': 1,
    'eval/reward': 2,
    'eval/reward_std': 3,
    'eval/best_of_n': 4,
    'eval/win_rate': 0.5,
    'eval/finished_rate': 0.75,
    'eval/rewards/brevity/mean': 2.5,
    'eval/rewards/brevity/std': 0.5,
    'eval/kl': 6,
    'eval/entropy': 7,
    'eval/length': 8,
    'eval/repetition': 0.9,
    'eval/explained_variance': 0.25,
  });
});

test('evaluationMetrics() omits a missing explained variance', () => {
  const metrics = evaluationMetrics({
    performance: { ...performance, explainedVariance: Number.NaN },
  });
  expect(metrics).not.toHaveProperty('eval/explained_variance');
  expect(Object.keys(metrics)).toHaveLength(12);
});

test('evaluationMetrics() reads the evaluations of earlier versions', () => {
  const { rewards: _, finishedRate: __, ...earlier } = performance;
  const metrics = evaluationMetrics({ performance: earlier as Performance });
  expect(Object.keys(metrics)).toHaveLength(10);
});
