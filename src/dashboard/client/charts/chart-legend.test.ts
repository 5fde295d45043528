import { describe, expect, test } from 'vitest';
import type { Line } from './chart-layout.ts';
import { describeCursor, formatRows, legendRows } from './chart-legend.tsx';

const line = (name: string, steps: number[], values: (number | null)[]): Line => ({
  ...{ label: name, name, colour: 0, dash: 0, isNoisy: true, steps, values },
});

describe('legendRows()', () => {
  const [long, short] = [line('long', [1, 2, 3], [1, 2, 3]), line('short', [1, 2], [5, null])];

  test('has raw and smoothed numbers of the latest step', () => {
    const smoothed = [[1, 1.5, 2]];
    expect(legendRows([long], { smoothed, cursor: undefined })).toEqual({
      step: 3,
      rows: [{ step: 3, raw: 3, smoothed: 2 }],
    });
  });

  test('has the numbers at the cursor, and of each line its nearest step', () => {
    const { step, rows } = legendRows([long, short], { smoothed: [], cursor: 2 });
    expect([step, rows.map((row) => [row.step, row.raw])]).toEqual([
      2,
      [
        [2, 2],
        [1, 5],
      ],
    ]);
  });

  test('has no step without numbers', () => {
    const rows = [{ step: undefined, raw: undefined, smoothed: undefined }];
    expect(legendRows([line('none', [], [])], { smoothed: [], cursor: 1 })).toEqual({ rows });
  });
});

test('formatRows() aligns raw and smoothed numbers', () => {
  const rows = [
    { raw: -0.007, smoothed: -0.0052 },
    { raw: 1, smoothed: undefined },
  ];
  expect(formatRows(rows)).toEqual([
    { raw: '−0.0070', smoothed: '−0.0052' },
    { raw: '1.0000', smoothed: '–' },
  ]);
});

test('describeCursor() reads the numbers out', () => {
  expect(describeCursor([line('kl', [1, 3], [2, 0.5])], undefined)).toBe('step 3: kl 0.5');
});
