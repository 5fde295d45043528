import { describe, expect, test } from 'vitest';
import { collectSeries } from '../charts/series.ts';
import { headlinesOf } from './headline.ts';

const metrics = {
  steps: [1, 2, 3],
  columns: { 'objective/scores': [null, 0.25, 0.5], 'objective/kl': [0, 1, 2] },
  rows: 3,
};

const evaluation = (step: number, reward: number, winRate: number) => ({
  step,
  performance: {
    ...{ reward, rewardInterval: [reward - 0.1, reward + 0.1], responses: 50, kl: step / 10 },
    ...{ winRate, winRateInterval: [0.49, 0.943] },
  },
});

describe('headlinesOf()', () => {
  test('shows the first and the last evaluation with the recorded intervals', () => {
    const evaluations = [evaluation(0, 0.25, 0.5), evaluation(10, 1, 0.8)];
    const series = collectSeries(metrics, evaluations);
    const { numbers, measuredOn, isEvaluated } = headlinesOf({
      ...{ kind: 'ppo', series, evaluations, config: { evalBestOf: 5 } },
    });
    expect([measuredOn, isEvaluated]).toEqual(['10 validation prompts', true]);
    expect(numbers.map(({ name, start, now }) => [name, start.value, now.value, now.step])).toEqual(
      [
        ['Reward', 0.25, 1, 10],
        ['Win rate', 0.5, 0.8, 10],
        ['KL', 0, 1, 10],
      ],
    );
    const [reward, winRate, kl] = numbers.map(({ interval }) => interval);
    expect(reward).toEqual({ low: 0.9, high: 1.1 });
    expect(winRate).toEqual({ low: 0.49, high: 0.943 });
    expect(kl).toBeUndefined();
  });

  test('states the recorded number of prompts, and no interval for a single one', () => {
    const performance = { winRate: 1, winRateInterval: [null, null], prompts: 1, responses: 50 };
    const evaluations = [{ step: 0, performance }];
    const { measuredOn, numbers } = headlinesOf({
      ...{ kind: 'ppo', series: collectSeries(metrics, evaluations), evaluations, config: {} },
    });
    expect(measuredOn).toBe('1 validation prompt');
    expect(numbers.find(({ name }) => name === 'Win rate')!.interval).toBeUndefined();
  });

  test('falls back to training batches, without an interval', () => {
    const series = collectSeries(metrics, []);
    const { numbers, measuredOn, isEvaluated } = headlinesOf({
      ...{ kind: 'ppo', series, evaluations: [], config: {} },
    });
    expect([measuredOn, isEvaluated]).toEqual(["the step's own responses", false]);
    expect(numbers.map(({ name, start, now, interval }) => [name, start, now, interval])).toEqual([
      ['Reward', { step: 2, value: 0.25 }, { step: 3, value: 0.5 }, undefined],
      ['KL', { step: 1, value: 0 }, { step: 3, value: 2 }, undefined],
    ]);
  });

  test('has the numbers of the run’s kind', () => {
    const evaluations = [{ step: 0, 'eval/loss': 2, 'eval/accuracy': 0.5, 'eval/perplexity': 7 }];
    const series = collectSeries({ steps: [], columns: {}, rows: 0 }, evaluations);
    const namesOf = (kind: 'sft' | 'reward') =>
      headlinesOf({ kind, series, evaluations, config: {} }).numbers.map(({ name }) => name);
    expect(namesOf('sft')).toEqual(['Loss', 'Perplexity']);
    expect(namesOf('reward')).toEqual(['Accuracy', 'Loss']);
  });

  test('is empty before the first number', () => {
    const series = collectSeries({ steps: [], columns: {}, rows: 0 }, []);
    expect(headlinesOf({ kind: 'ppo', series, evaluations: [], config: {} }).numbers).toEqual([]);
  });
});
