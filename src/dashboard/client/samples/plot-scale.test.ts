import { expect, test } from 'vitest';
import { extentOf, meansByStep, placeBetween } from './plot-scale.ts';

test('extentOf() passes over what is no number', () => {
  expect(extentOf([3, Number.NaN, null, -1])).toEqual({ min: -1, max: 3 });
  expect(extentOf([null])).toBeUndefined();
});

test('placeBetween() is a part of the way', () => {
  expect(placeBetween(3, { min: 1, max: 5 })).toBe(0.5);
  expect(placeBetween(5, { min: 1, max: 5 })).toBe(1);
  expect(placeBetween(2, { min: 2, max: 2 })).toBe(0.5);
});

test('meansByStep() averages the scores of a step', () => {
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
