import { makePost } from './make-post.ts';
import type { Post } from './post.ts';

/** What posts are used for; no post serves two purposes. */
export const splits = ['pretraining', 'sft', 'preferences', 'ppo', 'validation'] as const;
export type Split = (typeof splits)[number];

/** Posts of each split. */
export const splitSize = 1_000_000;

/** The post of a split with a number from 0 to 999,999.
 *  @example post 7 of 'sft'  →  makePost(seed, 1_000_007) */
export function makeSplitPost(
  split: Split,
  { seed, number }: { readonly seed: number; readonly number: number },
): Post {
  if (!Number.isInteger(number) || number < 0 || number >= splitSize) {
    throw new RangeError(
      `Cannot make a post of "${split}": its number must be a whole number from 0 to ${splitSize - 1}, got ${number}`,
    );
  }
  return makePost(seed, splits.indexOf(split) * splitSize + number);
}
