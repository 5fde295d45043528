import { describe, expect, test } from 'vitest';
import { ngrams, splitWords } from './library-reward.ts';
import { requireOptional } from './require-optional.ts';

describe('splitWords()', () => {
  test('keeps apostrophes and hyphens only inside words', () => {
    expect(splitWords("Don’t stop: it's well-known! -- 'so'")).toEqual([
      "Don't",
      'stop',
      "it's",
      'well-known',
      'so',
    ]);
  });

  test('finds letters, marks and digits of every script', () => {
    expect(splitWords('Привет, naïve नमस्ते 42 天气好 e\u0301a')).toEqual([
      'Привет',
      'naïve',
      'नमस्ते',
      '42',
      '天气好',
      'e\u0301a',
    ]);
    expect(splitWords('…!? 😀')).toEqual([]);
  });
});

test('ngrams() returns every n-gram, and none for fewer than n words', () => {
  expect(ngrams(['a', 'b', 'c'], 2)).toEqual(['a b', 'b c']);
  expect(ngrams(['a'], 2)).toEqual([]);
});

describe('requireOptional()', () => {
  test('names a missing package and the command that installs it', () => {
    expect(() => requireOptional('no-such-package/dist/x.js', { reward: 'sentiment' })).toThrow(
      'Cannot use the reward sentiment: it needs the package no-such-package, which is not installed; run npm install no-such-package',
    );
  });
});
