import {
  makeDemonstration,
  makeSplitPost,
  type Split,
  type SummaryMix,
} from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';

export interface WorldTextOptions {
  readonly seed: number;
  readonly count: number;
}

/** All kinds of sentences. */
const mix: SummaryMix = { good: 0.15, rambling: 0.35, missing: 0.3, invented: 0.2 };

/** Posts of a split with a summary each, from which the tokenizer learns its words. */
export function* makeWorldTexts(
  split: Split,
  { seed, count }: WorldTextOptions,
): Generator<string> {
  for (let number = 0; number < count; number++) {
    const post = makeSplitPost(split, { seed, number });
    const random = randomStream(seed, 'demonstration', split, number);
    yield `${post.text} ${makeDemonstration(post, { random, mix })}`;
  }
}
