import { expect, test } from 'vitest';
import { normalizeRating } from './rating-scale.ts';

test.each([
  [4, 1, 5, 0.75],
  [1, 1, 5, 0],
  [5, 1, 5, 1],
  [0, -1, 1, 0.5],
  [6, 1, 5, undefined],
  [0.5, 1, 5, undefined],
])('a rating of %f on a scale from %f to %f is %s', (rating, min, max, wanted) => {
  expect(normalizeRating(rating, { min, max })).toBe(wanted);
});
