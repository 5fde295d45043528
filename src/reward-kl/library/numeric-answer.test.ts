import { describe, expect, test } from 'vitest';
import { rewardSample } from '../../../test/helpers/reward-samples.ts';
import { numericAnswer } from './numeric-answer.ts';

const score = (response: string, { answer = 1234.5 as unknown, tolerance = 0 } = {}) =>
  numericAnswer({ answer: 'answer', tolerance })(rewardSample({ response, row: { answer } }));

describe('numericAnswer', () => {
  test('is 1 if the last number is right within the tolerance', () => {
    expect(score('#### 1,234.5')).toBe(1);
    expect(score('1234')).toBe(0);
    expect(score('1234', { tolerance: 0.5 })).toBe(1);
    expect(score('')).toBe(0);
  });

  test("a tolerance isn't missed by rounding", () => {
    expect(score('0.4', { answer: 0.3, tolerance: 0.1 })).toBe(1);
    expect(score('0.41', { answer: 0.3, tolerance: 0.1 })).toBe(0);
  });

  test('reads the answer at the end of a worked solution', () => {
    expect(score('It is 72.', { answer: '48/2 = 24, 48 + 24 = 72\n#### 72' })).toBe(1);
    expect(score('It is 24.', { answer: '48/2 = 24, 48 + 24 = 72\n#### 72' })).toBe(0);
  });

  test('may be given by a function', () => {
    const reward = numericAnswer({ answer: ({ prompt }) => prompt.length });
    expect(reward(rewardSample({ prompt: 'abc', response: 'It has 3.' }))).toBe(1);
  });

  test('a column without a number is an error', () => {
    expect(() => score('1', { answer: 'none' })).toThrow(
      'column "answer" of prompt 0 must be a number or a text with one, got "none"; its row has answer',
    );
  });
});
