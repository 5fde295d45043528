import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alignSeries, nearestPlace, type Points } from './align-series.ts';

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
  test('tells a step that is not there from a number that is not there', () => {
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

  test('every series can be read back', () => {
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

describe('nearestPlace()', () => {
  test('passes over steps without a number', () => {
    const gap = { steps: [10, 20, 30], values: [1, null, 3] };
    expect(nearestPlace(gap, 19)).toBe(0);
    expect(nearestPlace(gap, 21)).toBe(2);
    expect(nearestPlace(gap, 99)).toBe(2);
    expect(nearestPlace({ steps: [10], values: [null] }, 10)).toBe(-1);
  });

  test('no other number is nearer', () => {
    fc.assert(
      fc.property(points, fc.integer({ min: -5, max: 45 }), (one, step) => {
        const place = nearestPlace(one, step);
        const distances = one.steps.flatMap((s, i) =>
          one.values[i] === null ? [] : [Math.abs(s - step)],
        );
        if (place < 0) expect(distances).toEqual([]);
        else expect(Math.abs(one.steps[place]! - step)).toBe(Math.min(...distances));
      }),
    );
  });
});
