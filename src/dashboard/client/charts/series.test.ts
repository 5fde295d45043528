import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluationMetrics } from '../../../loop/evaluation-report.ts';
import {
  alignSeries,
  collectSeries,
  nearestIndex,
  type Points,
  smooth,
  stackColumns,
} from './series.ts';

const points: fc.Arbitrary<Points> = fc
  .uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 20 })
  .chain((steps) =>
    fc.record({
      steps: fc.constant(steps.toSorted((a, b) => a - b)),
      values: fc.array(fc.option(fc.integer()), {
        minLength: steps.length,
        maxLength: steps.length,
      }),
    }),
  );

describe('alignSeries()', () => {
  test('distinguishes a missing step from a missing number', () => {
    const aligned = alignSeries([
      { steps: [1, 3], values: [5, null] },
      { steps: [2, 3], values: [7, 8] },
    ]);
    expect(aligned.steps).toEqual([1, 2, 3]);
    expect(aligned.columns).toEqual([
      [5, undefined, null],
      [undefined, 7, 8],
    ]);
  });

  test('keeps every number of every series', () => {
    fc.assert(
      fc.property(fc.array(points, { minLength: 1, maxLength: 4 }), (series) => {
        const { steps, columns } = alignSeries(series);
        expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
        series.forEach((one, i) => {
          const present = steps.filter((_, place) => columns[i]![place] !== undefined);
          expect(present).toEqual(one.steps);
          expect(columns[i]!.filter((value) => value !== undefined)).toEqual(one.values);
        });
      }),
    );
  });
});

describe('nearestIndex()', () => {
  test('skips steps without a number', () => {
    const gap = { steps: [10, 20, 30], values: [1, null, 3] };
    expect(nearestIndex(gap, 19)).toBe(0);
    expect(nearestIndex(gap, 21)).toBe(2);
    expect(nearestIndex(gap, 99)).toBe(2);
    expect(nearestIndex({ steps: [10], values: [null] }, 10)).toBe(-1);
  });

  test('no other number is nearer', () => {
    fc.assert(
      fc.property(points, fc.integer({ min: -5, max: 45 }), (one, step) => {
        const place = nearestIndex(one, step);
        const distances = one.steps.flatMap((s, i) =>
          one.values[i] === null ? [] : [Math.abs(s - step)],
        );
        if (place < 0) expect(distances).toEqual([]);
        else expect(Math.abs(one.steps[place]! - step)).toBe(Math.min(...distances));
      }),
    );
  });
});

const none = { steps: [], columns: {}, rows: 0 };

const performance = {
  greedyReward: 1,
  reward: 2,
  rewardStd: 3,
  responses: 4,
  bestOfN: 5,
  winRate: 6,
  kl: 7,
  entropy: 8,
  length: 9,
  repetition: 10,
  explainedVariance: 11,
  prompts: 12,
  rewardInterval: [13, 14] as const,
  rewards: { brevity: { mean: 15, std: 16 } },
  finishedRate: 17,
  winRateInterval: [18, 19] as const,
};

describe('collectSeries()', () => {
  test('leaves out evaluations by people, which would hide those of the same step', () => {
    const rows = [
      { step: 5, 'eval/loss': 2 },
      { step: 5, human: { winRate: 0.5 } },
    ];
    expect([...collectSeries(none, rows)]).toEqual([['eval/loss', { steps: [5], values: [2] }]]);
  });

  test('gives the metrics of an evaluation the names that the run uses', () => {
    const series = collectSeries(none, [{ step: 5, performance, convergence: {}, samples: [] }]);
    const numbers = [...series].map(([name, { values }]) => [name, values[0]]);
    expect(Object.fromEntries(numbers)).toEqual(evaluationMetrics({ performance }));
    expect(series.get('eval/kl')).toEqual({ steps: [5], values: [7] });
  });

  test('copies the numbers of a validation, with null for missing ones', () => {
    const rows = [{ step: 1, 'eval/loss': 2 }, { step: 3, 'eval/loss': null }, { step: 4 }];
    expect([...collectSeries(none, rows)]).toEqual([
      ['eval/loss', { steps: [1, 3, 4], values: [2, null, null] }],
    ]);
  });

  test('leaves out metrics without any number', () => {
    const metrics = { steps: [1, 2], columns: { a: [null, 1], b: [null, null] }, rows: 2 };
    expect([...collectSeries(metrics, []).keys()]).toEqual(['a']);
  });
});

const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe('smooth()', () => {
  test('returns the hand-worked numbers', () => {
    const [first, gap, last] = smooth([1, null, 3], 0.5);
    expect(first).toBe(1);
    expect(gap).toBeNull();
    expect(last).toBeCloseTo(7 / 3, 12);
  });

  test('changes nothing at weight 0', () => {
    expect(smooth([4, -1, null, 2], 0)).toEqual([4, -1, null, 2]);
  });

  test('stays within the range of the numbers so far for any weight', () => {
    fc.assert(
      fc.property(fc.array(number), fc.double({ min: 0, max: 0.99, noNaN: true }), (x, w) => {
        smooth(x, w).forEach((value, n) => {
          const seen = x.slice(0, n + 1);
          expect(value).toBeGreaterThanOrEqual(Math.min(...seen) - 1e-3);
          expect(value).toBeLessThanOrEqual(Math.max(...seen) + 1e-3);
        });
      }),
    );
  });
});

test('stackColumns() adds up columns and keeps gaps', () => {
  expect(
    stackColumns([
      [1, 2, undefined],
      [3, null, 1],
      [5, 6, 1],
    ]),
  ).toEqual([
    [1, 2, undefined],
    [4, null, 1],
    [9, 8, 2],
  ]);
});
