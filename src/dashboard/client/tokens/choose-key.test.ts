import { expect, test } from 'vitest';
import { tokenOfKey } from './choose-key.ts';

test.each([
  ['ArrowRight', 1, 2],
  ['ArrowRight', 4, 4],
  ['ArrowLeft', 0, 0],
  ['Home', 3, 0],
  ['End', 3, 4],
  ['a', 3, undefined],
])('%s from %i of 5 leads to %s', (key, chosen, token) => {
  expect(tokenOfKey(key, { chosen, count: 5 })).toBe(token);
});
