import { describe, expect, test } from 'vitest';
import { evaluationMetrics } from '../../../loop/evaluation-report.ts';
import { collectSeries } from './run-series.ts';

const none = { steps: [], columns: {}, rows: 0 };

const performance = {
  greedyReward: 1,
  reward: 2,
  rewardStd: 3,
  responses: 4,
  bestOfN: 5,
  winRate: 6,
  kl: 7,
  entropy: 8,
  length: 9,
  repetition: 10,
  explainedVariance: 11,
};

describe('collectSeries()', () => {
  test('gives an evaluation the names that the run itself gives it', () => {
    const series = collectSeries(none, [{ step: 5, performance, convergence: {}, samples: [] }]);
    const numbers = [...series].map(([name, { values }]) => [name, values[0]]);
    expect(Object.fromEntries(numbers)).toEqual(evaluationMetrics({ performance }));
    expect(series.get('eval/kl')).toEqual({ steps: [5], values: [7] });
  });

  test('takes the numbers of a validation as they are, and null where one has none', () => {
    const rows = [{ step: 1, 'eval/loss': 2 }, { step: 3, 'eval/loss': null }, { step: 4 }];
    expect([...collectSeries(none, rows)]).toEqual([
      ['eval/loss', { steps: [1, 3, 4], values: [2, null, null] }],
    ]);
  });

  test('leaves out metrics without a single number', () => {
    const metrics = { steps: [1, 2], columns: { a: [null, 1], b: [null, null] }, rows: 2 };
    expect([...collectSeries(metrics, []).keys()]).toEqual(['a']);
  });
});
