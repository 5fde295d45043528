import { describe, expect, test } from 'vitest';
import type { DashboardSource, MetricColumns, RunSummary } from '../api.ts';
import { RunData } from './run-data.ts';

const rows = (...steps: number[]): MetricColumns => ({
  steps,
  columns: { kl: steps.map((step) => step / 10) },
  rows: steps.length,
});

/** A source that answers when it is told to. */
function slowSource() {
  const waiting: ((answer: MetricColumns) => void)[] = [];
  const asked: string[] = [];
  const none = async () => {
    throw new Error('Cannot read samples: nobody asks for them here');
  };
  const source: DashboardSource = {
    runs: none,
    samples: none,
    tokens: none,
    live: undefined,
    metrics: () => new Promise((answer) => waiting.push(answer)),
    config: async () => ({ seed: 1 }),
    evaluations: async () => {
      asked.push('evaluations');
      return [{ step: 1, 'eval/kl': 2 }];
    },
    log: async () => {
      asked.push('log');
      throw new Error('The file is gone; the run may be deleted');
    },
  };
  const answer = async (data: MetricColumns) => {
    waiting.shift()!(data);
    await new Promise(setImmediate);
  };
  return { source, asked, answer };
}

const withCounts = (evaluations: number, log: number) =>
  ({ counts: { metrics: 0, samples: 0, evaluations, log } }) as RunSummary;

describe('RunData', () => {
  test('rows that come while the others are being read are not lost', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    data.append(rows(2, 3));
    await answer(rows(1, 2));
    expect(data.metrics.value!.steps).toEqual([1, 2, 3]);
    data.append(rows(4));
    expect(data.metrics.value!.columns.kl).toEqual([0.1, 0.2, 0.3, 0.4]);
    expect([...data.series.value.keys()]).toEqual(['kl', 'eval/kl']);
  });

  test('reading anew replaces what was cut, and keeps what came meanwhile', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1, 2, 3));
    data.load();
    data.append(rows(2));
    await answer(rows(1));
    expect(data.metrics.value!.steps).toEqual([1, 2]);
  });

  test('of two readings the later one counts', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    data.load();
    await answer(rows(1, 2, 3));
    expect(data.metrics.value).toBeUndefined();
    data.append(rows(5));
    await answer(rows(4));
    expect(data.metrics.value!.steps).toEqual([4, 5]);
  });

  test('evaluations are read again only when there are more of them', async () => {
    const { source, asked, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1));
    asked.length = 0;
    data.follow(withCounts(1, 1));
    data.follow(withCounts(1, 1));
    expect(asked).toEqual([]);
    data.follow(withCounts(2, 1));
    expect(asked).toEqual(['evaluations']);
  });

  test('what cannot be read is told, and the rest is there', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1));
    expect(data.error.value).toBe('The file is gone; the run may be deleted');
    expect(data.config.value).toEqual({ seed: 1 });
  });
});
