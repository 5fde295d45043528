import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scrollToRow, visibleRows } from './sample-grid.tsx';

describe('visibleRows()', () => {
  test.each([
    [205, 100, { first: 12, end: 32 }],
    [0, 100, { first: 0, end: 11 }],
    [0, 2, { first: 0, end: 2 }],
    [0, 0, { first: 0, end: 0 }],
    [5000, 100, { first: 89, end: 100 }],
    [-50, 100, { first: 0, end: 11 }],
  ])('scrolled by %i px with %i rows', (scrollTop, total, rows) => {
    expect(visibleRows({ scrollTop, height: 30, rowHeight: 10, total })).toEqual(rows);
  });

  test('covers the box, and stays small for any number of rows', () => {
    const box = fc.record({
      scrollTop: fc.integer({ min: 0, max: 2_000_000 }),
      height: fc.integer({ min: 1, max: 2000 }),
      rowHeight: fc.integer({ min: 20, max: 80 }),
      total: fc.integer({ min: 0, max: 50_000 }),
    });
    fc.assert(
      fc.property(box, (of) => {
        const { first, end } = visibleRows(of);
        const top = Math.min(of.scrollTop, Math.max(0, of.total * of.rowHeight - of.height));
        expect(first * of.rowHeight).toBeLessThanOrEqual(top);
        const bottom = Math.min(top + of.height, of.total * of.rowHeight);
        expect(end * of.rowHeight).toBeGreaterThanOrEqual(bottom);
        expect(end - first).toBeLessThanOrEqual(of.height / of.rowHeight + 18);
        expect(end).toBeLessThanOrEqual(of.total);
      }),
    );
  });
});

test.each([
  [5, 50],
  [10, 100],
  [11, 100],
  [14, 120],
])('scrollToRow(%i) from rows 10 to 12 is %i', (row, scrollTop) => {
  expect(scrollToRow(row, { scrollTop: 100, height: 30, rowHeight: 10 })).toBe(scrollTop);
});
