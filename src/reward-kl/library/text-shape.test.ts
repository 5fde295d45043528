import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import {
  brevity,
  countSyllables,
  flesch,
  length,
  repetitionPenalty,
  scoreLength,
} from './text-shape.ts';

describe('brevity', () => {
  test('is 1 up to the target, then target/n, and 0 for an empty response', () => {
    const scores = samplesOf('', ' \n', '…!', 'one', 'one two', 'one two three four').map(
      brevity({ target: 2 }),
    );
    expect(scores).toEqual([0, 0, 0, 1, 1, 0.5]);
  });

  test('counts characters, with an emoji as one, or tokens', () => {
    const samples = samplesOf('ab😀d', 'abcdefgh');
    expect(samples.map(brevity({ target: 4, unit: 'characters' }))).toEqual([1, 0.5]);
    expect(samples.map(brevity({ target: 4, unit: 'tokens' }))).toEqual([4 / 5, 0.5]);
  });

  test('has a target of 50 words by default', () => {
    const words = (n: number) => 'word '.repeat(n);
    expect(samplesOf(words(50), words(100)).map(brevity())).toEqual([1, 0.5]);
  });

  test('is named brevity in metrics', () => {
    expect(brevity().name).toBe('brevity');
  });

  test('rejects a target below 1 and an unknown option', () => {
    expect(() => brevity({ target: 0 })).toThrow(
      'Cannot use the reward brevity: target must be a whole number ≥ 1, got 0',
    );
    expect(() => brevity({ traget: 9 } as never)).toThrow(
      'Cannot use the reward brevity: it has no "traget"; did you mean "target"?',
    );
  });
});

const eight = 'one two three four five six seven eight';

describe('length', () => {
  test('is 1 within the tolerance, n/a below and b/n above', () => {
    const reward = length({ target: 3, tolerance: 1 });
    expect(samplesOf('', 'one', 'one two', 'one two three four', eight).map(reward)).toEqual([
      0, 0.5, 1, 1, 0.5,
    ]);
  });

  test('scores 1 only for the target without a tolerance', () => {
    expect(samplesOf('a b', 'a b c d', eight).map(length({ target: 4 }))).toEqual([0.5, 1, 0.5]);
  });

  test('does not reward an empty response if the tolerance exceeds the target', () => {
    expect(samplesOf('', 'a').map(length({ target: 2, tolerance: 5 }))).toEqual([0, 1]);
  });

  test('requires a target', () => {
    expect(() => length({} as never)).toThrow(
      'Cannot use the reward length: target must be a whole number ≥ 1, got nothing',
    );
  });
});

test('scoreLength() is 1 inside the band and falls with the ratio outside', () => {
  expect([0, 3, 6, 16].map((n) => scoreLength(n, { from: 4, to: 8 }))).toEqual([0, 0.75, 1, 0.5]);
});

describe('repetitionPenalty', () => {
  test('is minus the fraction of repeated n-grams', () => {
    const samples = samplesOf('The cat, the cat, the', 'the cat sat', 'cat', '');
    expect(samples.map(repetitionPenalty({ n: 2 }))).toEqual([-0.5, 0, 0, 0]);
  });

  test('counts 3-grams by default', () => {
    expect(samplesOf('no no no no no').map(repetitionPenalty())).toEqual([1 / 3 - 1]);
  });
});

describe('countSyllables()', () => {
  test.each([
    ['the', 1],
    ['table', 2],
    ['whole', 1],
    ['makes', 1],
    ['boxes', 2],
    ['tables', 2],
    ['watches', 2],
    ['loved', 1],
    ['settled', 2],
    ['wanted', 2],
    ['committee', 3],
    ['proposal', 3],
    ['Reading', 2],
    ['rhythm', 1],
    ['café', 2],
    ['42', 1],
    ['天气', 1],
  ])('%s has %i', (word, count) => {
    expect(countSyllables(word)).toBe(count);
  });
});

describe('flesch', () => {
  test('is the reading ease divided by 100', () => {
    const [score] = samplesOf('The committee approved the proposal.').map(flesch());
    expect(score).toBeCloseTo((206.835 - 1.015 * 5 - (84.6 * 10) / 5) / 100, 12);
    expect(score).toBeCloseTo(0.3256, 12);
  });

  test('ends sentences at punctuation and line breaks, not inside numbers', () => {
    const shared = (206.835 - 1.015 * 5 - (84.6 * 10) / 5) / 100;
    const responses = [
      'The committee approved the proposal! "The committee approved the proposal?" ',
      'The committee approved the proposal\nThe committee approved the proposal',
    ];
    for (const score of samplesOf(...responses).map(flesch())) {
      expect(score).toBeCloseTo(shared, 12);
    }
    const [number] = samplesOf('The committee approved 3.14 proposals.').map(flesch());
    expect(number).toBeCloseTo((206.835 - 1.015 * 6 - (84.6 * 11) / 6) / 100, 12);
  });

  test('is clipped to [0, 1], and 0 without words', () => {
    const responses = ['The cat sat on the mat.', 'Incomprehensibilities', '', '?!'];
    expect(samplesOf(...responses).map(flesch())).toEqual([1, 0, 0, 0]);
  });
});
