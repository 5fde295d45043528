import { expect, test } from 'vitest';
import { compareGold } from './gold-evaluation.ts';

test('compareGold() returns the hand-computed interval and win rate', () => {
  const scores = (...values: number[]) => values.map((score) => ({ score }));
  const { before, after, low, high, ...wins } = compareGold(scores(0, 0, 1), scores(1, 1, 1));
  expect(before).toBeCloseTo(1 / 3, 12);
  expect(after).toBe(1);
  expect(low).toBeCloseTo(0.0133, 4);
  expect(high).toBeCloseTo(1.32, 4);
  expect(wins.winRate).toBeCloseTo(5 / 6, 12);
  expect(wins.winLow).toBeCloseTo(0.5067, 4);
  expect(wins.winHigh).toBeCloseTo(1.16, 4);
});
