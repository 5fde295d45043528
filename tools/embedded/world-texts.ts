import { makeDemonstration, makeSplitPost, type Split } from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';

export interface WorldTextOptions {
  readonly seed: number;
  readonly count: number;
}

/** Posts of a split with a demonstration each: what pretraining and SFT read. */
export function* makeWorldTexts(
  split: Split,
  { seed, count }: WorldTextOptions,
): Generator<string> {
  for (let number = 0; number < count; number++) {
    const post = makeSplitPost(split, { seed, number });
    const random = randomStream(seed, 'demonstration', split, number);
    yield `${post.text} ${makeDemonstration(post, { random })}`;
  }
}
