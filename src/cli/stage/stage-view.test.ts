import { expect, test } from 'vitest';
import { StageView } from './stage-view.ts';

const start = { type: 'run-start', step: 0, totalSteps: 4, stepsPerEpoch: 4 } as const;
const metrics = { 'train/loss': 0.5, 'train/accuracy': 0.75, 'train/grad_norm': 2, lr: 1e-4 };
const step = { type: 'step', step: 1, epoch: 1, metrics, samples: [], tokens: [] } as const;
const validation = {
  type: 'evaluation',
  step: 1,
  metrics: { 'eval/loss': 0.25, 'eval/accuracy': Number.NaN },
} as const;

/** All that a view writes of a step, made in 2 s, and a validation. */
function watch(terminal: { isTTY?: boolean; columns?: number }): string[] {
  const written: string[] = [];
  let time = 0;
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const view = new StageView({ output: { write, ...terminal }, now: () => time });
  view.handle(start);
  time = 2000;
  view.handle(step);
  view.handle(validation);
  return written;
}

test('StageView writes lines for steps and validations where there is no terminal', () => {
  expect(watch({})).toEqual([
    'step 1/4  loss 0.500  accuracy 75.0 %  6 s left\n',
    'step 1/4  validation  loss 0.250  accuracy –\n',
  ]);
});

test('StageView changes one line on a terminal, and validations stay', () => {
  expect(watch({ isTTY: true, columns: 44 })).toEqual([
    '\r\x1b[Kstep 1/4  ━━━───────  6 s left  loss 0.500',
    '\r\x1b[K',
    'step 1/4  validation  loss 0.250\n',
  ]);
});
