import { describe, expect, test } from 'vitest';
import { ngrams } from './ngrams.ts';
import { splitWords } from './split-words.ts';

describe('splitWords()', () => {
  test('keeps apostrophes and hyphens inside words only', () => {
    expect(splitWords("Don’t stop: it's well-known! -- 'so'")).toEqual([
      "Don't",
      'stop',
      "it's",
      'well-known',
      'so',
    ]);
  });

  test('knows letters, marks and digits of every script', () => {
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

test('ngrams() gives every run, and none in a shorter text', () => {
  expect(ngrams(['a', 'b', 'c'], 2)).toEqual(['a b', 'b c']);
  expect(ngrams(['a'], 2)).toEqual([]);
});
