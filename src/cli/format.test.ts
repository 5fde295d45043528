import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatNumber,
  formatPercent,
  formatSeconds,
  formatWhole,
  shellQuote,
  shortPath,
} from './format.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.00 kB'],
  [13_824, '13.8 kB'],
  [999_499, '999 kB'],
  [999_500, '1.00 MB'],
  [9_994_999, '9.99 MB'],
  [9_995_000, '10.0 MB'],
  [1_192_099_840, '1.19 GB'],
  [5e15, '5000 TB'],
])('formatBytes(%d) is %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [35, '35'],
  [64_512, '64.5 k'],
  [596_049_920, '596 M'],
  [7_600_000_000, '7.60 B'],
])('formatCount(%d) is %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [0, '0 s'],
  [0.2, '1 s'],
  [75, '1 min 15 s'],
  [3725, '1 h 2 min'],
])('formatSeconds(%d) is %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test('formatWhole() separates thousands', () => {
  expect(formatWhole(1_000_000)).toBe('1,000,000');
});

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
])('formatNumber(%d) is %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

test('formatPercent() shows one decimal, and a dash for NaN', () => {
  expect(formatPercent(0.755)).toBe('75.5 %');
  expect(formatPercent(Number.NaN)).toBe('–');
});

test('shortPath() returns a relative path inside the current folder and leaves hub ids unchanged', () => {
  expect(shortPath(resolve('runs/a'))).toBe('runs/a');
  expect(shortPath(resolve('../other'))).toBe(resolve('../other'));
  expect(shortPath('Qwen/Qwen3-0.6B')).toBe('Qwen/Qwen3-0.6B');
});

test('shellQuote() quotes text that a shell would split', () => {
  expect(shellQuote('runs/a-1')).toBe('runs/a-1');
  expect(shellQuote("my run's")).toBe("'my run'\\''s'");
});
