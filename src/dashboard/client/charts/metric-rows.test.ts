import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MetricColumns } from '../../api.ts';
import { appendRows, maxRows, thinRows } from './metric-rows.ts';

const upTo = (count: number): MetricColumns => {
  const steps = Array.from({ length: count }, (_, i) => i);
  return { steps, columns: { kl: steps.map((step) => step / 10) }, rows: count };
};

describe('appendRows()', () => {
  test('takes only steps that are new', () => {
    const old = { steps: [1, 2], columns: { kl: [0.1, 0.2] }, rows: 2 };
    const added = { steps: [2, 3], columns: { kl: [9, 0.3] }, rows: 3 };
    expect(appendRows(old, added)).toEqual({
      steps: [1, 2, 3],
      columns: { kl: [0.1, 0.2, 0.3] },
      rows: 3,
    });
    expect(appendRows(old, old)).toBe(old);
  });

  test('a metric that one side does not have is null there', () => {
    const old = { steps: [1], columns: { kl: [0.1] }, rows: 1 };
    const added = { steps: [2], columns: { lr: [0.5] }, rows: 2 };
    expect(appendRows(old, added).columns).toEqual({ kl: [0.1, null], lr: [null, 0.5] });
  });

  test('a run that grows row by row stays small, even, and true', () => {
    let data = upTo(1);
    for (let step = 1; step < 3 * maxRows; step++) {
      data = appendRows(data, { steps: [step], columns: { kl: [step / 10] }, rows: step + 1 });
    }
    expect(data.rows).toBe(3 * maxRows);
    expect(data.steps.length).toBeLessThanOrEqual(maxRows);
    expect(data.steps.length).toBeGreaterThanOrEqual(maxRows / 2);
    expect(data.columns.kl).toEqual(data.steps.map((step) => step / 10));
    const gaps = data.steps.slice(1).map((step, i) => step - data.steps[i]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(12);
  });
});

describe('thinRows()', () => {
  test('keeps the first, the last and an even choice between', () => {
    const thin = thinRows(upTo(5), 4);
    expect(thin).toEqual({ steps: [0, 2, 4], columns: { kl: [0, 0.2, 0.4] }, rows: 5 });
    expect(thinRows(thin, 4)).toBe(thin);
  });

  test('never gives more rows than asked for', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 4, max: 40 }),
        (numbers, most) => {
          const steps = numbers.toSorted((a, b) => a - b);
          const thin = thinRows({ steps, columns: { x: steps }, rows: steps.length }, most);
          expect(thin.steps.length).toBeLessThanOrEqual(most);
          expect(thin.columns.x).toEqual(thin.steps);
          expect([thin.steps[0], thin.steps.at(-1)]).toEqual([steps[0], steps.at(-1)]);
        },
      ),
    );
  });
});
