import { expect, test } from 'vitest';
import { makePost } from './make-post.ts';
import { makeSplitPost, splits } from './splits.ts';

test('makeSplitPost() gives each split a million posts of its own', () => {
  const first = splits.map((split) => makeSplitPost(split, { seed: 3, number: 7 }));
  expect(first).toEqual([7, 1_000_007, 2_000_007, 3_000_007, 4_000_007].map((i) => makePost(3, i)));
});

test.each([-1, 0.5, 1_000_000])('makeSplitPost() refuses number %d', (number) => {
  expect(() => makeSplitPost('sft', { seed: 0, number })).toThrow(
    `Cannot make a post of "sft": its number must be a whole number from 0 to 999999, got ${number}`,
  );
});
