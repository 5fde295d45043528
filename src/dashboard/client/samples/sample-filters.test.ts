import { expect, test } from 'vitest';
import { newestFirst, nextSort, noFilters, toQuery } from './sample-filters.tsx';

test('toQuery() ignores an empty search and boxes without a number', () => {
  expect(toQuery(noFilters, newestFirst)).toEqual({ sort: 'step', order: 'desc' });
  const filters = { ...noFilters, search: ' cat ', fromStep: '3', minScore: '-0.5', maxScore: '-' };
  expect(toQuery(filters, { sort: 'kl', order: 'asc' })).toEqual({
    sort: 'kl',
    order: 'asc',
    search: 'cat',
    fromStep: 3,
    minScore: -0.5,
  });
});

test('nextSort() starts descending and then reverses', () => {
  const byScore = nextSort(newestFirst, 'score');
  expect(byScore).toEqual({ sort: 'score', order: 'desc' });
  expect(nextSort(byScore, 'score')).toEqual({ sort: 'score', order: 'asc' });
  expect(nextSort({ sort: 'score', order: 'asc' }, 'score')).toEqual(byScore);
});
