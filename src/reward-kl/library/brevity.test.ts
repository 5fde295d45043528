import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { brevity } from './brevity.ts';

describe('brevity', () => {
  test('is 1 up to the target, then target/n, and 0 for nothing', () => {
    const scores = samplesOf('', ' \n', '…!', 'one', 'one two', 'one two three four').map(
      brevity({ target: 2 }),
    );
    expect(scores).toEqual([0, 0, 0, 1, 1, 0.5]);
  });

  test('counts characters, of which an emoji is one, or tokens', () => {
    const samples = samplesOf('ab😀d', 'abcdefgh');
    expect(samples.map(brevity({ target: 4, unit: 'characters' }))).toEqual([1, 0.5]);
    expect(samples.map(brevity({ target: 4, unit: 'tokens' }))).toEqual([4 / 5, 0.5]);
  });

  test('aims at 50 words by default', () => {
    const words = (n: number) => 'word '.repeat(n);
    expect(samplesOf(words(50), words(100)).map(brevity())).toEqual([1, 0.5]);
  });

  test('is called brevity in metrics', () => {
    expect(brevity().name).toBe('brevity');
  });

  test('a target that cannot be reached is refused, and an unknown option', () => {
    expect(() => brevity({ target: 0 })).toThrow(
      'Cannot use the reward brevity: target must be a whole number ≥ 1, got 0',
    );
    expect(() => brevity({ traget: 9 } as never)).toThrow(
      'Cannot use the reward brevity: it has no "traget"; did you mean "target"?',
    );
  });
});
