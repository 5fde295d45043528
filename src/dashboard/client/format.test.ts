import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatColumn,
  formatExact,
  formatFixed,
  formatNumber,
  formatPercent,
  formatProbability,
  formatTick,
  oneLine,
  visibleText,
} from './format.ts';

test.each([
  [0, '0 B'],
  [850, '850 B'],
  [999.6, '1.0 kB'],
  [1_240_000, '1.2 MB'],
  [9_960_000, '10 MB'],
  [25_000_000_000, '25 GB'],
  [4e15, '4000 TB'],
])('formatBytes(%s) is %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

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

  test('takes the number of decimals', () => {
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

describe('visibleText()', () => {
  test.each([
    ['a\u001b[1m', 'a␛[1m'],
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['\u0000\u007f\u009b', '␀␡⟨U+009B⟩'],
    ['a\r\nb\tc', 'a␍\nb\tc'],
    ['<script>é漢🙂</script>', '<script>é漢🙂</script>'],
  ])('visibleText(%j) is %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test('leaves no control characters except tab and newline', () => {
    const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');
    expect(visibleText(all).replace(/[\t\n]/g, '')).not.toMatch(/\p{Cc}/u);
  });
});

test.each([
  ['a\nb\r\nc', 10, 'a↵b↵c'],
  ['abcdef', 3, 'abc…'],
  ['\u001b\tx', 5, '␛ x'],
] as const)('oneLine(%j, %i) is %j', (text, limit, line) => {
  expect(oneLine(text, limit)).toBe(line);
});

describe('formatTick()', () => {
  test('keeps round numbers short', () => {
    const ticks = [0, 0.1 + 0.2, -0.25, 1500, 25_000, 1_500_000, 2e-7, -4e-4];
    const texts = ['0', '0.3', '−0.25', '1500', '25k', '1.5M', '2e-7', '−4e-4'];
    expect(ticks.map(formatTick)).toEqual(texts);
  });
});

describe('numbers of a column', () => {
  test('formatFixed() always has the same decimals, and no negative zero', () => {
    const texts = [0.5, -2, 1e-9, -1e-9, null, 123.45678].map((x) => formatFixed(x, 3));
    expect(texts).toEqual(['0.500', '−2.000', '0.000', '0.000', '–', '123.457']);
  });

  test('formatColumn() has as many decimals as the longest number needs', () => {
    expect(formatColumn([0.5, -1.25, null, 3])).toEqual(['0.50', '−1.25', '–', '3.00']);
    expect(formatColumn([1, 2])).toEqual(['1', '2']);
    expect(formatColumn([0.5, 1e-7])).toEqual(['0.5', '1.00e-7']);
  });

  test('formatPercent() has at most one decimal', () => {
    expect([0.625, 0.5, 0.33333, null].map(formatPercent)).toEqual(['62.5%', '50%', '33.3%', '–']);
  });
});

test('formatExact() shows every recorded digit', () => {
  const texts = [0.10000000149, -0.0523411987, 1.5e-7, 12, Number.NaN].map(formatExact);
  expect(texts).toEqual(['0.1', '−0.0523412', '1.5e-7', '12', '–']);
});
