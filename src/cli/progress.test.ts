import { describe, expect, test } from 'vitest';
import { describeMetrics, ProgressView } from './progress.ts';

/** A view with a manual clock, and its output. */
function createView(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const clock = { time: 0 };
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const view = new ProgressView({ output: { write, ...terminal }, now: () => clock.time });
  return { view, written, clock };
}

const metrics = {
  'objective/scores': 0.5,
  'objective/kl': 1.25,
  'policy/entropy_avg': 2,
  'ppo/val/var_explained': 0.75,
  'perf/tokens_per_second': 41.6,
};
const start = { type: 'run-start', step: 0, totalSteps: 10, stepsPerEpoch: 5 } as const;
const step = { type: 'step', step: 2, epoch: 1, metrics, samples: [], tokens: [] } as const;
const phase = { type: 'phase', step: 3, phase: 'generate', done: 1, total: 2 } as const;

describe('ProgressView', () => {
  test('prints a line per step with the time left if there is no terminal', () => {
    const { view, written, clock } = createView();
    view.handle(start);
    clock.time = 4000;
    view.handle(phase);
    view.handle(step);
    // Two steps in 4 s, so eight more take 16 s.
    expect(written).toEqual([
      'step  2/10  reward 0.500  KL 1.250  entropy 2.000  value EV 0.750  42 tokens/s  16 s left\n',
    ]);
  });

  test('excludes pauses from the time left, but not waiting for people', () => {
    const { view, written, clock } = createView();
    const control = (status: 'paused' | 'waiting' | 'running', time: number) => {
      clock.time = time;
      view.handle({ type: 'control', step: 1, status, message: '' });
    };
    view.handle(start);
    control('paused', 1000);
    control('running', 61_000);
    control('waiting', 61_000);
    control('running', 63_000);
    clock.time = 64_000;
    view.handle(step);
    // Two steps in 1 + 3 s, without the pause of a minute.
    expect(written[0]).toMatch(/ {2}16 s left\n$/);
  });

  test('prints only some of many steps, and the last', () => {
    const { view, written } = createView();
    view.handle({ ...start, totalSteps: 601 });
    for (let i = 1; i <= 601; i++) view.handle({ ...step, step: i });
    expect(written.length).toBe(151);
    expect(written.at(-1)).toMatch(/^step 601\/601 {2}reward/);
  });

  test('changes one line on a terminal and removes it before other lines', () => {
    const { view, written, clock } = createView({ isTTY: true, columns: 60 });
    view.handle(start);
    view.handle(phase);
    view.handle({ ...phase, done: 2 });
    clock.time = 100;
    view.handle({ ...phase, done: 2 });
    view.handle({ type: 'warning', step: 0, message: 'Careful' });
    expect(written).toEqual([
      '\r\x1b[Kstep  3/10  generate ━━━━━─────',
      '\r\x1b[Kstep  3/10  generate ━━━━━━━━━━',
      '\r\x1b[K',
      'Warning: Careful\n',
    ]);
  });

  test('shows as many numbers as fit on the terminal', () => {
    const { view, written, clock } = createView({ isTTY: true, columns: 60 });
    view.handle(start);
    view.handle({ ...phase, step: 2 });
    written.length = 0;
    view.handle(step);
    clock.time = 100;
    view.handle(phase);
    expect(written).toEqual(['\r\x1b[Kstep  3/10  generate ━━━━━─────  1 s left  reward 0.500']);
  });

  test('never fills a line, at any width', () => {
    for (const columns of [5, 20, 31, 32, 33, 80]) {
      const { view, written } = createView({ isTTY: true, columns });
      view.handle(start);
      view.handle(step);
      view.handle(phase);
      expect(written[0]!.replace('\r\x1b[K', '').length).toBeLessThan(columns);
    }
  });

  test('says where a resumed run continues', () => {
    const { view, written } = createView();
    view.handle({ ...start, step: 4 });
    expect(written).toEqual(['Resuming after step 4 of 10\n']);
  });
});

const stageStart = { type: 'run-start', step: 0, totalSteps: 4, stepsPerEpoch: 4 } as const;
const stageMetrics = { 'train/loss': 0.5, 'train/accuracy': 0.75, 'train/grad_norm': 2, lr: 1e-4 };
const stageStep = {
  type: 'step',
  step: 1,
  epoch: 1,
  metrics: stageMetrics,
  samples: [],
  tokens: [],
} as const;
const stageEvaluation = {
  type: 'evaluation',
  step: 1,
  metrics: { 'eval/loss': 0.25, 'eval/accuracy': Number.NaN },
} as const;

/** The output for a step of 2 s without phases, and an evaluation. */
function watch(terminal: { isTTY?: boolean; columns?: number }): string[] {
  const written: string[] = [];
  let time = 0;
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const view = new ProgressView({ output: { write, ...terminal }, now: () => time });
  view.handle(stageStart);
  time = 2000;
  view.handle(stageStep);
  view.handle(stageEvaluation);
  return written;
}

test('ProgressView prints lines for steps without phases and evaluations if there is no terminal', () => {
  expect(watch({})).toEqual([
    'step 1/4  loss 0.500  accuracy 75.0 %  6 s left\n',
    'step 1/4  evaluation  loss 0.250  accuracy –\n',
  ]);
});

test('ProgressView changes one line for steps without phases, and evaluations stay', () => {
  expect(watch({ isTTY: true, columns: 44 })).toEqual([
    '\r\x1b[Kstep 1/4  ━━━───────  6 s left  loss 0.500',
    '\r\x1b[K',
    'step 1/4  evaluation  loss 0.250\n',
  ]);
});

test('describeMetrics() shows the metrics that a run has', () => {
  expect(describeMetrics({ 'objective/scores': 1, 'objective/kl': 0 })).toEqual([
    'reward 1.000',
    'KL 0.000',
  ]);
  expect(describeMetrics({ 'eval/loss': 0.5, 'eval/accuracy': Number.NaN, lr: 1 })).toEqual([
    'loss 0.500',
    'accuracy –',
  ]);
});
