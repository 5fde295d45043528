import { expect, test } from 'vitest';
import { describeMetrics, showNumber } from './step-line.ts';

test.each([
  [0.123456, '0.123'],
  [-12.345, '-12.35'],
  [123.45, '123.5'],
  [-1234.4, '-1234'],
  [-0.0001, '0.000'],
  [-0.02, '-0.020'],
  [2.5e6, '2.5e+6'],
  [Number.NaN, '–'],
  [undefined, '–'],
])('showNumber(%d) is %s', (value, text) => {
  expect(showNumber(value)).toBe(text);
});

test('describeMetrics() leaves out the value model where there is none', () => {
  expect(describeMetrics({ 'objective/scores': 1, 'objective/kl': 0 })).toEqual([
    'reward 1.000',
    'KL 0.000',
    'entropy –',
  ]);
});
