import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { sentiment } from './sentiment.ts';
import { keyword, regex } from './text-content.ts';

describe('keyword', () => {
  test('is the fraction of wanted words minus the fraction of unwanted words', () => {
    const reward = keyword({ words: ['thank you', 'please'], avoid: ['stupid'] });
    const responses = ['Thank  you!', 'Please, stupid', 'pleased', '', 'PLEASE thank\nyou please'];
    expect(samplesOf(...responses).map(reward)).toEqual([0.5, -0.5, 0, 0, 1]);
  });

  test('finds whole words of any script in any Unicode normal form', () => {
    const reward = keyword({ words: ['été'] });
    const responses = ['ÉTÉ.', 'e\u0301te\u0301', 'étés', 'un_été', '(été)'];
    expect(samplesOf(...responses).map(reward)).toEqual([1, 1, 0, 0, 1]);
    expect(samplesOf('Спасибо!').map(keyword({ words: ['спасибо'] }))).toEqual([1]);
  });

  test('treats regular expression syntax literally', () => {
    const reward = keyword({ words: ['C++', 'a.b', '(x|y)'] });
    expect(samplesOf('I like c++', 'a.b', 'axb', 'x', '(x|y)').map(reward)).toEqual([
      1 / 3,
      1 / 3,
      0,
      0,
      1 / 3,
    ]);
  });

  test('is from −1 to 0 with only words to avoid', () => {
    expect(samplesOf('so bad', 'good').map(keyword({ avoid: ['bad'] }))).toEqual([-1, 0]);
  });

  test('requires a word', () => {
    expect(() => keyword({})).toThrow(
      'Cannot use the reward keyword: set words or avoid, got neither',
    );
    expect(() => keyword({ words: [' '] })).toThrow(
      'Cannot use the reward keyword: words must be a list, each text that is not empty, got [" "]',
    );
  });
});

describe('regex', () => {
  test('is 1 if the expression matches', () => {
    const samples = samplesOf('Yes, it is', 'Yesterday', 'yes', '');
    expect(samples.map(regex({ pattern: /^Yes\b/ }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(regex({ pattern: '^Yes\\b' }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(regex({ pattern: '^yes\\b', flags: 'iu' }))).toEqual([1, 0, 1, 0]);
    expect(samples.map(regex({ pattern: /^yes\b/i }))).toEqual([1, 0, 1, 0]);
  });

  test('keeps no state between responses for global and sticky expressions', () => {
    expect(samplesOf('ab', 'ab', 'ab').map(regex({ pattern: /b/g }))).toEqual([1, 1, 1]);
    expect(samplesOf('ab', 'ab', 'ab').map(regex({ pattern: /b/y }))).toEqual([1, 1, 1]);
  });

  test('rejects an invalid expression', () => {
    expect(() => regex({ pattern: '[' })).toThrow(
      /^Cannot use the reward regex: pattern and flags must form a regular expression, got "\[" and "u" \(Invalid/,
    );
    expect(() => regex({ pattern: '' })).toThrow(
      'Cannot use the reward regex: pattern must be text that is not empty, got ""',
    );
  });
});

describe('sentiment', () => {
  test('is the mean valence of the words found, divided by 5', () => {
    const responses = ['A good and friendly answer', 'GOOD food, terrible service', 'A table', ''];
    expect(samplesOf(...responses).map(sentiment())).toEqual([0.5, 0, 0, 0]);
  });

  test('flips the sign after a negation unless the list has the phrase', () => {
    const responses = ['It was never good', 'It isn’t terrible', 'It is not good'];
    expect(samplesOf(...responses).map(sentiment())).toEqual([-0.6, 0.6, -0.4]);
  });

  test('ignores words that are property names of every object', () => {
    expect(samplesOf('constructor toString').map(sentiment())).toEqual([0]);
  });
});
