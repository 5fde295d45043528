import { expect, test } from 'vitest';
import { lineChart } from './demo-report.ts';

test('lineChart() spans both axes and escapes text', () => {
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
