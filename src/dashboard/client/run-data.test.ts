import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fakeWorkers } from '../../../test/helpers/fake-workers.ts';
import type { DashboardSource, MetricColumns, RunSummary } from '../api.ts';
import { appendRows, maxRows, RunData, thinRows } from './run-data.ts';

const rows = (...steps: number[]): MetricColumns => ({
  steps,
  columns: { kl: steps.map((step) => step / 10) },
  rows: steps.length,
});

/** A source whose answers the test controls. */
function slowSource() {
  const waiting: ((answer: MetricColumns) => void)[] = [];
  const requested: string[] = [];
  const none = async () => {
    throw new Error('Internal: unused');
  };
  const source: DashboardSource = {
    runs: none,
    samples: none,
    tokens: none,
    live: undefined,
    metrics: () => new Promise((answer) => waiting.push(answer)),
    config: async () => ({ seed: 1 }),
    workers: async () => null,
    evaluations: async () => {
      requested.push('evaluations');
      return [{ step: 1, 'eval/kl': 2 }];
    },
    log: async () => {
      requested.push('log');
      throw new Error('The file no longer exists; the run may have been deleted');
    },
  };
  const answer = async (data: MetricColumns) => {
    waiting.shift()!(data);
    await new Promise(setImmediate);
  };
  return { source, requested, answer };
}

const withCounts = (evaluations: number, log: number) =>
  ({ counts: { metrics: 0, samples: 0, evaluations, log }, workersAt: null }) as RunSummary;

describe('RunData', () => {
  test('rows that arrive during a load are kept', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    data.append(rows(2, 3));
    await answer(rows(1, 2));
    expect(data.metrics.value!.steps).toEqual([1, 2, 3]);
    data.append(rows(4));
    expect(data.metrics.value!.columns.kl).toEqual([0.1, 0.2, 0.3, 0.4]);
    expect([...data.series.value.keys()]).toEqual(['kl', 'eval/kl']);
  });

  test('reloading drops truncated rows and keeps new ones', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1, 2, 3));
    data.load();
    data.append(rows(2));
    await answer(rows(1));
    expect(data.metrics.value!.steps).toEqual([1, 2]);
  });

  test('the later of two loads wins', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    data.load();
    await answer(rows(1, 2, 3));
    expect(data.metrics.value).toBeUndefined();
    data.append(rows(5));
    await answer(rows(4));
    expect(data.metrics.value!.steps).toEqual([4, 5]);
  });

  test('evaluations are reloaded only if there are more of them', async () => {
    const { source, requested, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1));
    requested.length = 0;
    data.follow(withCounts(1, 1));
    data.follow(withCounts(1, 1));
    expect(requested).toEqual([]);
    data.follow(withCounts(2, 1));
    expect(requested).toEqual(['evaluations']);
  });

  test('workers are reloaded until they are those of the list', async () => {
    const { source, answer } = slowSource();
    let [state, loads] = [fakeWorkers(), 0];
    const workers = async () => {
      loads++;
      return state;
    };
    const data = new RunData({ ...source, workers }, 'a');
    await answer(rows(1));
    expect(data.workers.value).toEqual(state);
    data.follow({ ...withCounts(1, 1), workersAt: state.updatedAt });
    expect(loads).toBe(1);
    state = fakeWorkers({ updatedAt: '2026-01-31T12:01:33.000Z', workers: [] });
    data.follow({ ...withCounts(1, 1), workersAt: state.updatedAt });
    await new Promise(setImmediate);
    expect([loads, data.workers.value]).toEqual([2, state]);
  });

  test('reports what cannot be loaded, and loads the rest', async () => {
    const { source, answer } = slowSource();
    const data = new RunData(source, 'a');
    await answer(rows(1));
    expect(data.error.value).toBe('The file no longer exists; the run may have been deleted');
    expect(data.config.value).toEqual({ seed: 1 });
  });
});

const upTo = (count: number): MetricColumns => {
  const steps = Array.from({ length: count }, (_, i) => i);
  return { steps, columns: { kl: steps.map((step) => step / 10) }, rows: count };
};

describe('appendRows()', () => {
  test('adds only new steps', () => {
    const old = { steps: [1, 2], columns: { kl: [0.1, 0.2] }, rows: 2 };
    const added = { steps: [2, 3], columns: { kl: [9, 0.3] }, rows: 3 };
    expect(appendRows(old, added)).toEqual({
      steps: [1, 2, 3],
      columns: { kl: [0.1, 0.2, 0.3] },
      rows: 3,
    });
    expect(appendRows(old, old)).toBe(old);
  });

  test('a metric that is missing on one side is null there', () => {
    const old = { steps: [1], columns: { kl: [0.1] }, rows: 1 };
    const added = { steps: [2], columns: { lr: [0.5] }, rows: 2 };
    expect(appendRows(old, added).columns).toEqual({ kl: [0.1, null], lr: [null, 0.5] });
  });

  test('a run that grows row by row stays small, evenly spaced and exact', () => {
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
  test('keeps the first, the last and evenly spaced rows in between', () => {
    const thin = thinRows(upTo(5), 4);
    expect(thin).toEqual({ steps: [0, 2, 4], columns: { kl: [0, 0.2, 0.4] }, rows: 5 });
    expect(thinRows(thin, 4)).toBe(thin);
  });

  test('never returns more than the maximum number of rows', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 4, max: 40 }),
        (numbers, max) => {
          const steps = numbers.toSorted((a, b) => a - b);
          const thin = thinRows({ steps, columns: { x: steps }, rows: steps.length }, max);
          expect(thin.steps.length).toBeLessThanOrEqual(max);
          expect(thin.columns.x).toEqual(thin.steps);
          expect([thin.steps[0], thin.steps.at(-1)]).toEqual([steps[0], steps.at(-1)]);
        },
      ),
    );
  });
});
