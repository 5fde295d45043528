import { expect, test } from 'vitest';
import { comparedSteps, winnerOf } from './evaluation-tab.tsx';

const sample = { prompt: 'p', response: 'a', score: 1, refResponse: 'b', refScore: 0.5 };

test('comparedSteps() returns evaluations with responses, the newest first', () => {
  const rows = [
    { step: 0, performance: { greedyReward: 1, winRate: 0.5 }, samples: [sample] },
    { step: 5, 'validation/loss': 2 },
    { step: 10, samples: [{ ...sample, score: null, kl: 3 }] },
  ];
  expect(comparedSteps(rows)).toEqual([
    { step: 10, greedyReward: null, winRate: null, samples: [{ ...sample, score: null }] },
    { step: 0, greedyReward: 1, winRate: 0.5, samples: [sample] },
  ]);
});

test('comparedSteps() ignores malformed samples', () => {
  const samples = [null, 3, { prompt: 'p' }, { ...sample, refResponse: 7 }];
  expect(comparedSteps([{ step: 1, samples }])).toEqual([]);
});

test.each([
  [1, 0.5, 'policy'],
  [0.5, 1, 'reference'],
  [1, 1, 'tie'],
  [null, 1, undefined],
] as const)('winnerOf() scores %s and %s is %s', (score, refScore, winner) => {
  expect(winnerOf({ score, refScore })).toBe(winner);
});
