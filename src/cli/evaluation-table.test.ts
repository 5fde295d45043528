import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluationMetrics, type Performance } from '../loop/evaluation-report.ts';
import { formatEvaluations } from './evaluation-table.ts';

const performance = {
  ...{ prompts: 30, responses: 120, bestOfN: 2, kl: 3, entropy: 1, length: 8, repetition: 0 },
  ...{ greedyReward: 1.5, reward: 1, rewardStd: 1, explainedVariance: Number.NaN },
  rewardInterval: [0.75, 1.25],
  rewards: { brevity: { mean: 1.5, std: 1 }, polite: { mean: -0.5, std: 1 } },
  ...{ finishedRate: 0.9, winRate: 0.5, winRateInterval: [0.33, 0.67] },
} satisfies Performance;
const toColumn = (numbers: Performance) => ({
  metrics: evaluationMetrics({ performance: numbers }),
  performance: numbers,
});
const cases = { number: 30, noun: 'prompt' };

test('formatEvaluations() shows intervals, each source and finished responses', () => {
  const text = formatEvaluations({ policy: toColumn(performance) }, { cases, width: 80 });
  expect(text.split('\n').map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
    'policy',
    'reward 1.000 [0.750, 1.250]',
    'of brevity 1.500',
    'of polite -0.500',
    'reward, greedy 1.500',
    'reward, best of n 2.000',
    'win rate over reference 50.0 % [33.0, 67.0]',
    'finished responses 90.0 %',
    'KL from reference 3.000',
    'entropy 1.000',
    'length in tokens 8.000',
    'repeated 3-grams 0.0 %',
    'Brackets are 95 % intervals.',
  ]);
});

test('formatEvaluations() puts intervals below their values if the table is too wide', () => {
  const column = toColumn({
    ...performance,
    rewards: {
      ...performance.rewards,
      a_name_of_more_than_forty_characters_for_it: performance.rewards.polite,
    },
  });
  const columns = {
    'before (step 0)': column,
    'model (step 20)': column,
    'last (step 40)': column,
  };
  expect(formatEvaluations(columns, { cases, width: 80 }).split('\n').slice(0, 11)).toEqual([
    '                                   before           model            last',
    '                                 (step 0)       (step 20)       (step 40)',
    '  reward                            1.000           1.000           1.000',
    '    95 % interval          [0.750, 1.250]  [0.750, 1.250]  [0.750, 1.250]',
    '    of brevity                      1.500           1.500           1.500',
    '    of polite                      -0.500          -0.500          -0.500',
    '    of a_name_of_more_than_forty_characters_for_it',
    '                                   -0.500          -0.500          -0.500',
    '  reward, greedy                    1.500           1.500           1.500',
    '  reward, best of n                 2.000           2.000           2.000',
    '  win rate over reference          50.0 %          50.0 %          50.0 %',
  ]);
});

test('formatEvaluations() never exceeds the width, with any names and numbers', () => {
  const name = fc.stringMatching(/^[a-zA-Z_-]{1,120}$/);
  const number = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(
      ...([
        fc.uniqueArray(name, { maxLength: 12 }),
        number,
        fc.integer({ min: 40, max: 120 }),
      ] as const),
      (names, value, width) => {
        const column = toColumn({
          ...performance,
          ...{ reward: value, greedyReward: value, rewardInterval: [value, value] },
          rewards: Object.fromEntries(names.map((source) => [source, { mean: value, std: 1 }])),
        });
        const columns = {
          'before (step 0)': column,
          'model (step 1000000)': column,
          'last (step 2000000)': column,
        };
        const text = formatEvaluations(columns, { cases: { number: 3, noun: 'prompt' }, width });
        const longest = Math.max(...text.split('\n').map((line) => line.length));
        expect(longest).toBeLessThanOrEqual(width);
      },
    ),
  );
});
