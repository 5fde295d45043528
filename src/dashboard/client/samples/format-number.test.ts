import { describe, expect, test } from 'vitest';
import { formatNumber, formatProbability } from './format-number.ts';

describe('formatNumber()', () => {
  test.each([
    [-0.05213, '−0.0521'],
    [0.00001, '1.00e-5'],
    [-0.0001234, '−1.23e-4'],
    [12, '12'],
    [0, '0'],
    [123.456, '123.46'],
    [1234.56, '1234.6'],
    [2_500_000, '2.50e+6'],
    [null, '–'],
    [undefined, '–'],
    [Number.NaN, '–'],
    [-Infinity, '−∞'],
  ])('formatNumber(%s) is %s', (x, text) => {
    expect(formatNumber(x)).toBe(text);
  });

  test('formatNumber() has as many decimals as asked for', () => {
    expect(formatNumber(-0.05213, 3)).toBe('−0.052');
  });
});

describe('formatProbability()', () => {
  test.each([
    [Math.log(0.5), '50%'],
    [Math.log(0.1234), '12.3%'],
    [Math.log(0.00123), '0.12%'],
    [-20, '2.1e-7%'],
    [0, '100%'],
    [-Infinity, '0%'],
    [null, '–'],
  ])('formatProbability(%s) is %s', (logprob, text) => {
    expect(formatProbability(logprob)).toBe(text);
  });
});
