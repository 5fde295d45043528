import { describe, expect, test } from 'vitest';
import { fakeWorker } from '../../../../test/helpers/fake-workers.ts';
import { describeStage, describeUpdate, efficiencyOf, splitWorkers } from './describe-workers.ts';

describe('describeStage()', () => {
  test.each([
    [{ step: 11, stage: 'gradients', done: 3, total: 8 }, 'Step 12: gradients, 3 of 8'],
    [{ step: 0, stage: 'rollOut', done: 0, total: 2 }, 'Step 1: rollouts, 0 of 2'],
    [{ step: 0, stage: 'start', done: 0, total: 0 }, 'No job yet'],
    // Jobs of another kind were sent in between.
    [{ step: 2, stage: 'refLogprobs', done: 2, total: 1 }, 'Step 3: reference logprobs'],
    [{ step: 2, stage: 'later', done: 1, total: 2 }, 'Step 3: later, 1 of 2'],
  ])('%j is %j', (progress, text) => {
    expect(describeStage(progress)).toBe(text);
  });
});

test('describeUpdate() distinguishes active, ended and killed runs', () => {
  expect(
    (['running', 'paused', 'completed', 'failed', 'killed'] as const).map(describeUpdate),
  ).toEqual([
    'Updated',
    'Updated',
    'When the run ended,',
    'When the run ended,',
    'The run was killed; last updated',
  ]);
});

test('efficiencyOf() is unknown before a worker has joined, and at most 1', () => {
  expect(efficiencyOf({ busy: 30, wall: 40 })).toBe(0.75);
  expect(efficiencyOf({ busy: 0, wall: 0 })).toBeUndefined();
  expect(efficiencyOf({ busy: 41, wall: 40 })).toBe(1);
});

test('splitWorkers() separates refused workers', () => {
  const [a, b, c] = [
    fakeWorker(),
    fakeWorker({ state: 'refused' }),
    fakeWorker({ state: 'loading' }),
  ];
  expect(splitWorkers([a, b, c])).toEqual({ joined: [a, c], refused: [b] });
});
