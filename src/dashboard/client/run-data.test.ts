import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DashboardSource, MetricColumns, RunSummary } from '../api.ts';
import { appendRows, maxRows, RunData, thinRows } from './run-data.ts';

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

const upTo = (count: number): MetricColumns => {
  const steps = Array.from({ length: count }, (_, i) => i);
  return { steps, columns: { kl: steps.map((step) => step / 10) }, rows: count };
};

describe('appendRows()', () => {
  test('takes only steps that are new', () => {
    const old = { steps: [1, 2], columns: { kl: [0.1, 0.2] }, rows: 2 };
    const added = { steps: [2, 3], columns: { kl: [9, 0.3] }, rows: 3 };
    expect(appendRows(old, added)).toEqual({
      steps: [1, 2, 3],
      columns: { kl: [0.1, 0.2, 0.3] },
      rows: 3,
    });
    expect(appendRows(old, old)).toBe(old);
  });

  test('a metric that one side does not have is null there', () => {
    const old = { steps: [1], columns: { kl: [0.1] }, rows: 1 };
    const added = { steps: [2], columns: { lr: [0.5] }, rows: 2 };
    expect(appendRows(old, added).columns).toEqual({ kl: [0.1, null], lr: [null, 0.5] });
  });

  test('a run that grows row by row stays small, even, and true', () => {
    let data = upTo(1);
    for (let step = 1; step < 3 * maxRows; step++) {
      data = appendRows(data, { steps: [step], columns: { kl: [step / 10] }, rows: step + 1 });
    }
    expect(data.rows).toBe(3 * maxRows);
    expect(data.steps.length).toBeLessThanOrEqual(maxRows);
    expect(data.steps.length).toBeGreaterThanOrEqual(maxRows / 2);
    expect(data.columns.kl).toEqual(data.steps.map((step) => step / 10));
    const gaps = data.steps.slice(1).map((step, i) => step - data.steps[i]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(12);
  });
});

describe('thinRows()', () => {
  test('keeps the first, the last and an even choice between', () => {
    const thin = thinRows(upTo(5), 4);
    expect(thin).toEqual({ steps: [0, 2, 4], columns: { kl: [0, 0.2, 0.4] }, rows: 5 });
    expect(thinRows(thin, 4)).toBe(thin);
  });

  test('never gives more rows than asked for', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 4, max: 40 }),
        (numbers, most) => {
          const steps = numbers.toSorted((a, b) => a - b);
          const thin = thinRows({ steps, columns: { x: steps }, rows: steps.length }, most);
          expect(thin.steps.length).toBeLessThanOrEqual(most);
          expect(thin.columns.x).toEqual(thin.steps);
          expect([thin.steps[0], thin.steps.at(-1)]).toEqual([steps[0], steps.at(-1)]);
        },
      ),
    );
  });
});
