import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { HumanEvaluation } from '../run/human-evaluation.ts';
import { formatSummary } from './summary.ts';

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
const details = {
  modelNote: 'LoRA adapter',
  column: { title: 'by length', cells: { accuracy: '75.0 %' } },
  next: ['generate'],
  ...{ seconds: 3, output: { write: () => true } },
};

test('formatSummary() shows all evaluations, which model was saved, files and next commands', () => {
  expect(formatSummary(result, details)).toBe(`All steps are done. 4 steps in 3 s.

Validation on 4 pairs
                         before         model          last  by length
                       (step 0)      (step 2)      (step 4)
  loss                    1.000         0.500         2.000
  accuracy               50.0 %        50.0 %        50.0 %     75.0 %
    95 % interval  [15.0, 85.0]  [15.0, 85.0]  [15.0, 85.0]
  Measured on only 4 pairs: small differences are chance; validate on at least
  20.
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
  People prefer the policy of step 2 to the reference on 67.5 % of 40 prompts
  (95 % interval 52.0 % to 79.9 %; 2 labellers), and rate it 3.80 against 3.10
  of 5
`,
  );
});

test('formatSummary() has no line above 80 columns, except for paths and commands', () => {
  const message = 'model/ holds the best by validation of all evaluations of this run, step 2 of 4';
  const notes = ['"by length" always prefers the shorter text, which wins most training pairs.'];
  const summary = formatSummary(
    { ...result, model: { ...result.model, message: `${message}; ${message}` } },
    { ...details, notes: [...notes, `${notes} ${notes}`] },
  );
  const lines = summary.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  const wide = { write: () => true, columns: 120 };
  const inWideTerminal = formatSummary(result, { ...details, output: wide });
  expect(inWideTerminal).toContain('  Brackets are 95 % intervals.\n');
  expect(inWideTerminal).toContain('before (step 0)       model (step 2)');
});
