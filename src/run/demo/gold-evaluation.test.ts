import { expect, test } from 'vitest';
import { compareGold } from './gold-evaluation.ts';
import { lineChart } from './line-chart.ts';

test('compareGold() gives the hand-worked interval and win rate', () => {
  const scores = (...values: number[]) => values.map((score) => ({ score }));
  const { before, after, low, high, ...wins } = compareGold(scores(0, 0, 1), scores(1, 1, 1));
  expect(before).toBeCloseTo(1 / 3, 12);
  expect(after).toBe(1);
  expect(low).toBeCloseTo(2 / 3 - (1.96 * Math.sqrt(1 / 3)) / Math.sqrt(3), 12);
  expect(high).toBeCloseTo(1.32, 4);
  expect(wins.winRate).toBeCloseTo(5 / 6, 12);
  expect(wins.winLow).toBeCloseTo(0.5067, 4);
  expect(wins.winHigh).toBeCloseTo(1.16, 4);
});

test('lineChart() places the ends of a curve at the ends of its axes, and escapes text', () => {
  const svg = lineChart({
    title: 'a < b',
    lines: [
      {
        name: 'x',
        points: [
          [1, 0],
          [3, 2],
        ],
      },
    ],
  });
  expect(svg).toContain('points="46,176 348,28"');
  expect(svg).toContain('a &lt; b');
  expect(svg).not.toContain('a < b');
});

test('lineChart() draws a curve that does not move in the middle', () => {
  const points = [
    [1, 5],
    [2, 5],
  ] as const;
  expect(lineChart({ title: 't', lines: [{ name: 'x', points }] })).toContain('46,102 348,102');
});
