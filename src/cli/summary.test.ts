import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { evaluationMetrics, type Performance } from '../loop/evaluation-report.ts';
import type { HumanEvaluation } from '../run/human-evaluation.ts';
import { formatEvaluations, formatSummary } from './summary.ts';

const folder = resolve('runs/a');
const evaluation = (step: number, loss: number) => ({
  step,
  metrics: { 'eval/loss': loss, 'eval/accuracy': 0.5 },
  report: undefined,
});
const result = {
  ...{ folder, modelFolder: join(folder, 'model'), steps: 4, metrics: {} },
  ...({ reason: 'completed', message: 'All steps are done' } as const),
  evaluations: { first: evaluation(0, 1), model: evaluation(2, 0.5), last: evaluation(4, 2) },
  model: { step: 2, chosenBy: 'validation', message: 'model/ holds the best' } as const,
  lastFolder: join(folder, 'last'),
  items: { unit: 'pairs', train: 8, validation: 4 } as const,
  human: [],
};
const performance = {
  ...{ prompts: 30, responses: 120, bestOfN: 2, kl: 3, entropy: 1, length: 8, repetition: 0 },
  ...{ greedyReward: 1.5, reward: 1, rewardStd: 1, explainedVariance: Number.NaN },
  rewardInterval: [0.75, 1.25],
  rewards: { brevity: { mean: 1.5, std: 1 }, polite: { mean: -0.5, std: 1 } },
  ...{ finishedRate: 0.9, winRate: 0.5, winRateInterval: [0.33, 0.67] },
} satisfies Performance;

const details = {
  modelNote: 'LoRA adapter',
  column: { title: 'by length', cells: { accuracy: '75.0 %' } },
  next: ['generate'],
  ...{ seconds: 3, output: { write: () => true } },
};

test('formatSummary() shows all evaluations, which model was saved, files and next commands', () => {
  expect(formatSummary(result, details)).toBe(`All steps are done. 4 steps in 3 s.

Validation on 4 pairs
                before (step 0)       model (step 2)        last (step 4)  by length
  loss                    1.000                0.500                2.000
  accuracy  50.0 % [15.0, 85.0]  50.0 % [15.0, 85.0]  50.0 % [15.0, 85.0]     75.0 %
  Brackets are 95 % intervals.
  Measured on only 4 pairs: small differences are chance; validate on at least 20.
  model/ holds the best.
  The loss is higher than before: lower the learning rate or train on more rows.

Files
  model    runs/a/model (LoRA adapter)
  last     runs/a/last (after the last step, 4)
  metrics  runs/a/metrics.jsonl
  run      runs/a

Next
  npx proximal generate`);
});

test('formatEvaluations() shows intervals, each source and finished responses', () => {
  const column = { metrics: evaluationMetrics({ performance }), performance };
  const cases = { number: 30, noun: 'prompt' };
  const text = formatEvaluations({ policy: column }, { cases });
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

test('formatSummary() shows one column for a single evaluation, and none without one', () => {
  const one = { first: evaluation(0, 1), model: evaluation(0, 1), last: evaluation(0, 1) };
  expect(formatSummary({ ...result, evaluations: one }, details)).toMatch(
    /\n +step 0 {2}by length\n/,
  );
  expect(formatSummary({ ...result, evaluations: undefined }, details)).toContain(
    'Validation\n  none: there was nothing to evaluate on\n  model/ holds the best.\n',
  );
});

test('formatSummary() repeats what people said about earlier steps', () => {
  const human: HumanEvaluation = {
    ...{ queue: 'a-1', against: 'reference', kind: 'rating', prompts: 40, judged: 40, equal: 0 },
    ...{ answers: 80, labellers: 2, wins: 24, ties: 6, losses: 10, winRate: 0.675 },
    ...{ interval: [0.52, 0.799], agreement: 0.8, alpha: 0.5, time: 'now' },
    ratings: {
      policy: { mean: 3.8, interval: [3.5, 4.1] },
      other: { mean: 3.1, interval: [2.8, 3.4] },
      difference: { mean: 0.7, interval: [0.3, 1.1] },
    },
  };
  expect(formatSummary({ ...result, human: [{ step: 2, human }] }, details)).toContain(
    `
Human evaluation
  People prefer the policy of step 2 to the reference on 67.5 % of 40 prompts (95 % interval 52.0 % to 79.9 %; 2 labellers), and rate it 3.80 against 3.10 of 5
`,
  );
});
