import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../test/helpers/run-event-reader.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { type EvaluationReport, evaluationMetrics, type TrainEvent } from '../loop/index.ts';
import { MetricSink } from './metric-sink.ts';
import { RunFolder } from './run-folder.ts';
import { readRunState } from './run-state.ts';

const options = { config: {}, keepCheckpoints: 1 };

const sampleOf = (step: number) => ({
  step,
  promptIdx: 0,
  sample: 0,
  prompt: 'Hi,\n*you*',
  response: 'Yes',
  score: 1.23456,
  kl: 0.5,
  length: 3,
  finished: true,
});

const tokensOf = (step: number) => ({
  ...{ step, promptIdx: 0, sample: 0, prompt: 'Hi,\n*you*', ids: [7], texts: ['Yes'] },
  ...{ logprobs: [-0.5], refLogprobs: [-1], kl: [0.5], rewards: [0.95], values: [0.25] },
  ...{ advantages: [1], returns: [0.95], entropies: [0.75], ratios: [null] },
  alternatives: [{ ids: [7, 3], texts: ['Yes', 'No'], logprobs: [-0.5, -1.5] }],
  ...{ gamma: 0.99, lambda: 0.95, klCoef: 0.1, whitening: { mean: 0.7, std: 0 } },
});

const stepOf = (step: number): TrainEvent => ({
  type: 'step',
  step,
  epoch: 1,
  metrics: { 'objective/kl': step / 4, 'ppo/val/var_explained': Number.NaN },
  samples: [sampleOf(step)],
  tokens: [tokensOf(step)],
});

const reportOf = (step: number): EvaluationReport => ({
  performance: {
    prompts: 4,
    rewardInterval: [0, 1],
    rewards: { length: { mean: 0.5, std: 0.25 } },
    finishedRate: 1,
    winRateInterval: [0.25, 0.95],
    greedyReward: 1,
    reward: 0.5,
    rewardStd: 0.25,
    responses: 4,
    bestOfN: 2,
    winRate: 0.75,
    kl: 3,
    entropy: 1.5,
    length: 8,
    repetition: 0,
    explainedVariance: Number.NaN,
  },
  convergence: {
    converged: false,
    performanceImproved: true,
    stop: undefined,
    message: 'The reward rises.',
    kl: { direction: 'stable', change: 0, message: 'The KL is stable.' },
    value: undefined,
  },
  samples: [{ ...sampleOf(step), refResponse: 'No', refScore: -1 }],
});

const evaluationOf = (step: number): TrainEvent => {
  const report = reportOf(step);
  return { type: 'evaluation', step, metrics: evaluationMetrics(report), report };
};

const readLines = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe('MetricSink', () => {
  test('handle() writes metrics, samples, tokens and evaluations as JSONL', async () => {
    const run = await RunFolder.create(join(makeTempFolder(), 'a'), options);
    const sink = new MetricSink(run);
    for (const event of [stepOf(1), stepOf(2), evaluationOf(2)]) sink.handle(event);
    expect(readFileSync(run.paths.metrics, 'utf8')).toBe(
      '{"step":1,"epoch":1,"objective/kl":0.25,"ppo/val/var_explained":null}\n' +
        '{"step":2,"epoch":1,"objective/kl":0.5,"ppo/val/var_explained":null}\n',
    );
    expect(readLines(run.paths.samples)).toEqual([sampleOf(1), sampleOf(2)]);
    expect(readLines(run.paths.tokens)).toEqual([tokensOf(1), tokensOf(2)]);
    expect(readLines(run.paths.evaluations)).toEqual([
      {
        step: 2,
        performance: expect.objectContaining({ bestOfN: 2, explainedVariance: null }),
        convergence: {
          ...{ converged: false, performanceImproved: true, message: 'The reward rises.' },
          kl: { direction: 'stable', change: 0, message: 'The KL is stable.' },
        },
        samples: [{ ...sampleOf(2), refResponse: 'No', refScore: -1 }],
      },
    ]);
    sink.close();
    run.close();
  });

  test('handle() writes the same for TensorBoard', async () => {
    const run = await RunFolder.create(join(makeTempFolder(), 'a'), options);
    const sink = new MetricSink(run);
    for (const event of [stepOf(1), evaluationOf(1)]) sink.handle(event);
    sink.handle({
      ...stepOf(2),
      ...{ metrics: { lr: 0.5 }, samples: [], tokens: [] },
    } as TrainEvent);
    sink.close();
    run.close();
    const [name] = readdirSync(run.paths.events);
    const [, step, evaluation, bare] = readEvents(readFileSync(join(run.paths.events, name!)));
    expect(step).toMatchObject({
      step: 1,
      scalars: { 'objective/kl': 0.25, 'ppo/val/var_explained': Number.NaN },
      texts: {
        samples: ['prompt\n\n    Hi,\n    *you*\n\nscore 1.235, KL 0.5, 3 tokens\n\n    Yes'],
      },
    });
    expect(evaluation!.scalars).toEqual({
      'eval/greedy_reward': 1,
      'eval/reward': 0.5,
      'eval/reward_std': 0.25,
      'eval/best_of_n': 2,
      'eval/win_rate': 0.75,
      'eval/finished_rate': 1,
      'eval/rewards/length/mean': 0.5,
      'eval/rewards/length/std': 0.25,
      'eval/kl': 3,
      'eval/entropy': 1.5,
      'eval/length': 8,
      'eval/repetition': 0,
    });
    expect(evaluation!.texts['eval/samples']![0]).toMatch(/Yes\n\nreference, score -1\n\n {4}No$/);
    expect(bare).toMatchObject({ step: 2, scalars: { lr: 0.5 }, texts: {} });
  });

  test('handle() updates the state of the run', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    const sink = new MetricSink(run);
    sink.handle({ type: 'run-start', step: 0, totalSteps: 9, stepsPerEpoch: 3 });
    sink.handle(stepOf(1));
    expect(await readRunState(path)).toMatchObject({ step: 1, totalSteps: 9, status: 'running' });
    sink.handle({ type: 'run-end', step: 1, reason: 'collapsed', message: 'Entropy is 0.' });
    expect(await readRunState(path)).toMatchObject({
      step: 1,
      status: 'collapsed',
      message: 'Entropy is 0.',
    });
    sink.close();
    run.close();
  });

  test('handle() creates no file without events for it', async () => {
    const run = await RunFolder.create(join(makeTempFolder(), 'a'), options);
    const sink = new MetricSink(run);
    sink.handle({ ...stepOf(1), ...{ samples: [], tokens: [] } } as TrainEvent);
    sink.handle({ type: 'checkpoint', step: 1, folder: '', isBest: false });
    sink.close();
    const logs = readdirSync(run.path).filter((name) => name.endsWith('.jsonl'));
    expect(logs.sort()).toEqual(['log.jsonl', 'metrics.jsonl']);
    run.close();
  });

  test('handle() logs starts, warnings, checkpoints, pauses and ends', async () => {
    const path = join(makeTempFolder(), 'a');
    const start = { type: 'run-start', totalSteps: 9, stepsPerEpoch: 3 } as const;
    const paused = { type: 'control', status: 'paused', message: 'Paused before step 3' } as const;
    const play = async (events: readonly TrainEvent[], { resume = false } = {}) => {
      const run = await RunFolder.create(path, { ...options, resume });
      await run.truncateLogs();
      const sink = new MetricSink(run);
      for (const event of events) {
        if (event.type === 'checkpoint') await sink.saveCheckpoint(async () => {}, event);
        sink.handle(event);
      }
      sink.close();
      run.close();
      return readLines(run.paths.log).map(({ time, type, step, message }) => {
        expect(new Date(String(time)).toISOString()).toBe(time);
        return `${step} ${type}: ${message}`;
      });
    };
    const warning: TrainEvent = { type: 'warning', step: 0, message: 'Left out 1 prompt' };
    const rows = await play([
      warning,
      { ...start, step: 0 },
      ...[stepOf(1), stepOf(2)],
      { type: 'checkpoint', step: 2, folder: '', isBest: true },
      { ...paused, step: 2 },
      stepOf(3),
      { type: 'run-end', step: 3, reason: 'interrupted', message: 'The run was interrupted' },
    ]);
    expect(rows).toEqual([
      '0 warning: Left out 1 prompt',
      '0 start: Started a run of 9 steps',
      '2 checkpoint: Saved a checkpoint after step 2, the best so far',
      '2 control: Paused before step 3',
      '3 end: The run was interrupted',
    ]);
    expect(await play([warning, { ...start, step: 2 }], { resume: true })).toEqual([
      ...rows.slice(0, 4),
      '2 warning: Left out 1 prompt',
      '2 resume: Resumed after step 2 of 9',
    ]);
  });

  test('handle() shows the phase of a run in progress', async () => {
    const path = join(makeTempFolder(), 'a');
    const run = await RunFolder.create(path, options);
    const sink = new MetricSink(run);
    sink.handle({ type: 'phase', step: 1, phase: 'generate', done: 3, total: 8 });
    const phase = { phase: 'generate', done: 3, total: 8 };
    expect(await readRunState(path)).toMatchObject({ status: 'running', phase });
    sink.handle({ type: 'run-end', step: 1, reason: 'completed', message: 'Done' });
    expect(await readRunState(path)).not.toHaveProperty('phase');
    sink.close();
    run.close();
  });

  test('an interrupted and resumed run logs the same lines as an uninterrupted one', async () => {
    const root = makeTempFolder();
    const play = async (name: string, { until, resume }: { until: number; resume: boolean }) => {
      const run = await RunFolder.create(join(root, name), { ...options, resume });
      await run.truncateLogs();
      const sink = new MetricSink(run);
      for (let step = (run.resumedFrom?.step ?? 0) + 1; step <= until; step++) {
        sink.handle(stepOf(step));
        if (step % 2 !== 0) continue;
        sink.handle(evaluationOf(step));
        const folder = await sink.saveCheckpoint(async () => {}, { step, isBest: false });
        sink.handle({ type: 'checkpoint', step, folder, isBest: false });
      }
      sink.close();
      run.close();
      const { metrics, samples, tokens, evaluations } = run.paths;
      return [metrics, samples, tokens, evaluations].map((path) => readFileSync(path, 'utf8'));
    };
    const whole = await play('whole', { until: 6, resume: false });
    const interrupted = await play('resumed', { until: 5, resume: false });
    expect(interrupted).not.toEqual(whole);
    expect(await play('resumed', { until: 6, resume: true })).toEqual(whole);
    expect(readdirSync(join(root, 'resumed', 'events'))).toHaveLength(2);
  });
});
