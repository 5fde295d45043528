import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { regex } from './regex.ts';

describe('regex', () => {
  test('is 1 where the expression is found', () => {
    const samples = samplesOf('Yes, it is', 'Yesterday', 'yes', '');
    expect(samples.map(regex({ pattern: /^Yes\b/ }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(regex({ pattern: '^Yes\\b' }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(regex({ pattern: '^yes\\b', flags: 'iu' }))).toEqual([1, 0, 1, 0]);
    expect(samples.map(regex({ pattern: /^yes\b/i }))).toEqual([1, 0, 1, 0]);
  });

  test('a global or sticky expression forgets the response before', () => {
    expect(samplesOf('ab', 'ab', 'ab').map(regex({ pattern: /b/g }))).toEqual([1, 1, 1]);
    expect(samplesOf('ab', 'ab', 'ab').map(regex({ pattern: /b/y }))).toEqual([1, 1, 1]);
  });

  test('what is no expression is refused', () => {
    expect(() => regex({ pattern: '[' })).toThrow(
      /^Cannot use the reward regex: pattern and flags must be a regular expression's, got "\[" and "u" \(Invalid/,
    );
    expect(() => regex({ pattern: '' })).toThrow(
      'Cannot use the reward regex: pattern must be text that is not empty, got ""',
    );
  });
});
