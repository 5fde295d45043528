import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { keyword } from './keyword.ts';

describe('keyword', () => {
  test('is the part of the wanted words minus the part of the unwanted', () => {
    const reward = keyword({ words: ['thank you', 'please'], avoid: ['stupid'] });
    const responses = ['Thank  you!', 'Please, stupid', 'pleased', '', 'PLEASE thank\nyou please'];
    expect(samplesOf(...responses).map(reward)).toEqual([0.5, -0.5, 0, 0, 1]);
  });

  test('finds whole words of any script, composed or not', () => {
    const reward = keyword({ words: ['été'] });
    const responses = ['ÉTÉ.', 'e\u0301te\u0301', 'étés', 'un_été', '(été)'];
    expect(samplesOf(...responses).map(reward)).toEqual([1, 1, 0, 0, 1]);
    expect(samplesOf('Спасибо!').map(keyword({ words: ['спасибо'] }))).toEqual([1]);
  });

  test('takes signs of regular expressions as they stand', () => {
    const reward = keyword({ words: ['C++', 'a.b', '(x|y)'] });
    expect(samplesOf('I like c++', 'a.b', 'axb', 'x', '(x|y)').map(reward)).toEqual([
      1 / 3,
      1 / 3,
      0,
      0,
      1 / 3,
    ]);
  });

  test('only to avoid is from −1 to 0', () => {
    expect(samplesOf('so bad', 'good').map(keyword({ avoid: ['bad'] }))).toEqual([-1, 0]);
  });

  test('needs a word', () => {
    expect(() => keyword({})).toThrow(
      'Cannot use the reward keyword: words or avoid must be given, got none',
    );
    expect(() => keyword({ words: [' '] })).toThrow(
      'Cannot use the reward keyword: words must be a list, each text that is not empty, got [" "]',
    );
  });
});
