import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
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
  evaluations: { first: evaluation(0, 1), last: evaluation(4, 2) },
  best: { step: 2, folder: join(folder, 'best') },
};
const details = {
  modelNote: 'LoRA adapter',
  column: { title: 'by length', cells: { accuracy: '75.0 %' } },
  next: ['proximal generate'],
  ...{ seconds: 3, output: { write: () => true } },
};

test('formatSummary() shows numbers before and after, a higher loss, files and next commands', () => {
  expect(formatSummary(result, details)).toBe(`All steps are done. 4 steps in 3 s.

Validation
            before (step 0)  after (step 4)  by length
  loss                1.000           2.000
  accuracy           50.0 %          50.0 %     75.0 %
  The loss is higher than before: lower the learning rate or train on more rows.

Files
  model    runs/a/model (LoRA adapter)
  best     runs/a/best (best evaluation, step 2)
  metrics  runs/a/metrics.jsonl
  run      runs/a

Next
  proximal generate`);
});

test('formatSummary() shows one column for a single evaluation, and none without one', () => {
  const one = { first: evaluation(0, 1), last: evaluation(0, 1) };
  expect(formatSummary({ ...result, evaluations: one }, details)).toMatch(
    /\n +step 0 {2}by length\n/,
  );
  expect(formatSummary({ ...result, evaluations: undefined }, details)).toContain(
    'Validation\n  none: there was nothing to evaluate on\n',
  );
});
