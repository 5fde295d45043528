import { expect, test } from 'vitest';
import { formatBytes, formatCount, formatSeconds, formatWhole } from './units.ts';

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

test('formatWhole() sets thousands apart', () => {
  expect(formatWhole(1_000_000)).toBe('1,000,000');
});
