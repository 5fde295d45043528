import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../api.ts';
import { columnsFor, newestRunsFirst, nextRunSort, searchRuns, sortRuns } from './runs-table.ts';

const run = (name: string, change: Partial<RunSummary> = {}): RunSummary => ({
  ...{ id: name, name, kind: 'ppo', status: 'completed', step: 1, totalSteps: 2 },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', eta: null, message: null, phase: null },
  counts: { metrics: 0, samples: 0, evaluations: 0, log: 0 },
  ...{ results: {}, note: '', workersAt: null, ...change },
});

const runs = [
  run('a2', { results: { 'eval/reward': 1, 'eval/win_rate': 0.625 }, note: 'β too LOW' }),
  run('a10', { kind: 'sft', status: 'failed', results: { 'train/loss': 2 } }),
  run('b', { results: { 'eval/reward': 3 }, startedAt: '2026-01-02T00:00:00.000Z' }),
];
const columns = columnsFor(runs);
const namesBy = (key: string, order: 'asc' | 'desc') =>
  sortRuns(runs, { columns, sort: { key, order } }).map(({ name }) => name);

describe('columnsFor()', () => {
  test('has only metrics that a run has', () => {
    expect(columns.map(({ title }) => title)).toEqual([
      'Run',
      'Kind',
      'Status',
      'Step',
      'Reward',
      'Win rate',
      'Training loss',
      'Started',
    ]);
  });

  test('shows numbers with aligned decimals and missing ones as nothing', () => {
    const shown = (title: string) => runs.map(columns.find((one) => one.title === title)!.show);
    expect(shown('Reward')).toEqual(['1.000', '', '3.000']);
    expect(shown('Win rate')).toEqual(['62.5%', '', '']);
    expect(shown('Step')).toEqual(['1/2', '1/2', '1/2']);
  });
});

describe('sortRuns()', () => {
  test('sorts numbers by size and names naturally', () => {
    expect(namesBy('name', 'asc')).toEqual(['a2', 'a10', 'b']);
    expect(namesBy('startedAt', 'desc')[0]).toBe('b');
  });

  test('puts runs without a number last in both directions', () => {
    expect(namesBy('eval/reward', 'desc')).toEqual(['b', 'a2', 'a10']);
    expect(namesBy('eval/reward', 'asc')).toEqual(['a2', 'b', 'a10']);
  });
});

test('nextRunSort() reverses the same column and starts another with its best direction', () => {
  const column = (key: string) => columns.find((one) => one.key === key)!;
  const byReward = nextRunSort(newestRunsFirst, column('eval/reward'));
  expect(byReward).toEqual({ key: 'eval/reward', order: 'desc' });
  expect(nextRunSort(byReward, column('eval/reward')).order).toBe('asc');
  expect(nextRunSort(byReward, column('name')).order).toBe('asc');
});

test('searchRuns() finds every word in name, kind, status or note, in any case', () => {
  const found = (search: string) => searchRuns(runs, search).map(({ name }) => name);
  expect(found('')).toEqual(['a2', 'a10', 'b']);
  expect(found('a low')).toEqual(['a2']);
  expect(found('SFT failed')).toEqual(['a10']);
  expect(found('a nothing')).toEqual([]);
});
