import { expect, test } from 'vitest';
import { newestFirst, nextSort, noFilters, queryOf, queryUntil } from './sample-query.ts';

test('queryOf() takes what is a number, and no empty search', () => {
  expect(queryOf(noFilters, newestFirst)).toEqual({ sort: 'step', order: 'desc' });
  const filters = { ...noFilters, search: ' cat ', fromStep: '3', minScore: '-0.5', maxScore: '-' };
  expect(queryOf(filters, { sort: 'kl', order: 'asc' })).toEqual({
    sort: 'kl',
    order: 'asc',
    search: 'cat',
    fromStep: 3,
    minScore: -0.5,
  });
});

test('queryUntil() ends at the earlier of the step and what the person asked for', () => {
  expect(queryUntil({}, 7)).toEqual({ toStep: 7 });
  expect(queryUntil({ toStep: 9 }, 7)).toEqual({ toStep: 7 });
  expect(queryUntil({ toStep: 3 }, 7)).toEqual({ toStep: 3 });
});

test('nextSort() starts at the high end, then turns round', () => {
  const byScore = nextSort(newestFirst, 'score');
  expect(byScore).toEqual({ sort: 'score', order: 'desc' });
  expect(nextSort(byScore, 'score')).toEqual({ sort: 'score', order: 'asc' });
  expect(nextSort({ sort: 'score', order: 'asc' }, 'score')).toEqual(byScore);
});
