import { expect, test } from 'vitest';
import { clippedLoss, policyRatio } from './policy-loss-clip.ts';

test('policyRatio() gives the hand-worked numbers', () => {
  expect(policyRatio(0)).toEqual({ ratio: 1, slope: 1 });
  const { ratio, slope } = policyRatio(Math.log(3));
  expect([ratio, slope]).toEqual([expect.closeTo(3, 12), expect.closeTo(3, 12)]);
});

test('policyRatio() stays at e^±20, without a slope', () => {
  expect(policyRatio(21)).toEqual({ ratio: Math.exp(20), slope: 0 });
  expect(policyRatio(-1000)).toEqual({ ratio: Math.exp(-20), slope: 0 });
  expect(policyRatio(20)).toEqual({ ratio: Math.exp(20), slope: Math.exp(20) });
});

test.each([
  // Above the range: cut where that is worse.
  { ratio: 1.5, advantage: 1, loss: -1.2, slope: 0, clipped: true },
  { ratio: 1.5, advantage: -1, loss: 1.5, slope: 1, clipped: false },
  // Below the range.
  { ratio: 0.5, advantage: 1, loss: -0.5, slope: -1, clipped: false },
  { ratio: 0.5, advantage: -1, loss: 0.8, slope: 0, clipped: true },
  // Within.
  { ratio: 1.1, advantage: 2, loss: -2.2, slope: -2, clipped: false },
  { ratio: 5, advantage: -1, loss: 5, slope: 1, clipped: false },
])('clippedLoss() with ε = 0.2: %j', ({ ratio, advantage, loss, slope, clipped }) => {
  const range = { low: 0.2, high: 0.2, dual: undefined };
  expect(clippedLoss(ratio, advantage, range)).toEqual({
    loss: expect.closeTo(loss, 12),
    slope,
    clipped,
  });
});

test('clippedLoss() has its own range above 1', () => {
  const range = { low: 0.2, high: 0.4, dual: undefined };
  expect(clippedLoss(1.3, 1, range)).toEqual({ loss: -1.3, slope: -1, clipped: false });
  expect(clippedLoss(1.5, 1, range)).toEqual({ loss: -1.4, slope: 0, clipped: true });
  expect(clippedLoss(0.7, -1, range)).toEqual({ loss: 0.8, slope: 0, clipped: true });
});

test('clippedLoss() with dual clip bounds the loss of negative advantages alone', () => {
  const range = { low: 0.2, high: 0.2, dual: 3 };
  expect(clippedLoss(5, -1, range)).toEqual({ loss: 3, slope: 0, clipped: false });
  expect(clippedLoss(2, -1, range)).toEqual({ loss: 2, slope: 1, clipped: false });
  expect(clippedLoss(0.5, -1, range)).toEqual({ loss: 0.8, slope: 0, clipped: true });
  expect(clippedLoss(5, 1, range)).toEqual({ loss: -1.2, slope: 0, clipped: true });
  expect(clippedLoss(1.1, 1, range)).toEqual({ loss: -1.1, slope: -1, clipped: false });
});
