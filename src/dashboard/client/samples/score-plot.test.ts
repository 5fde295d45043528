import { expect, test } from 'vitest';
import { extentOf, fractionBetween, meansByStep } from './score-plot.tsx';

test('extentOf() ignores missing and non-finite numbers', () => {
  expect(extentOf([3, Number.NaN, null, -1])).toEqual({ min: -1, max: 3 });
  expect(extentOf([null])).toBeUndefined();
});

test('fractionBetween() is 0 at the start and 1 at the end', () => {
  expect(fractionBetween(3, { min: 1, max: 5 })).toBe(0.5);
  expect(fractionBetween(5, { min: 1, max: 5 })).toBe(1);
  expect(fractionBetween(2, { min: 2, max: 2 })).toBe(0.5);
});

test('meansByStep() averages the scores of each step', () => {
  const points = [
    { step: 3, score: 5 },
    { step: 1, score: 2 },
    { step: 1, score: 4 },
    { step: 2, score: null },
  ];
  expect(meansByStep(points)).toEqual([
    { step: 1, mean: 3 },
    { step: 3, mean: 5 },
  ]);
});
