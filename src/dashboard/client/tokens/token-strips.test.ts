import { expect, test } from 'vitest';
import { barsPath, linePath, stripGeometry } from './token-strips.tsx';

test('stripGeometry() always includes 0', () => {
  expect(stripGeometry([1, -1, 0])).toEqual({ min: -1, max: 1, zero: 0.5, ys: [0, 1, 0.5] });
  expect(stripGeometry([2, 4])).toEqual({ min: 0, max: 4, zero: 1, ys: [0.5, 0] });
  expect(stripGeometry([null, 1]).ys).toEqual([undefined, 0]);
});

test('linePath() goes through the middle of each step and has a gap for a missing number', () => {
  expect(linePath(stripGeometry([1, -1, null, 0]))).toBe('M0.5 0.0000L1.5 1.0000M3.5 0.5000');
});

test('barsPath() draws the bars of one side', () => {
  const geometry = stripGeometry([1, -1, 0]);
  expect(barsPath(geometry, 'above')).toBe('M0.1 0.5000V0.0000h0.8V0.5000z');
  expect(barsPath(geometry, 'below')).toBe('M1.1 0.5000V1.0000h0.8V0.5000z');
});
