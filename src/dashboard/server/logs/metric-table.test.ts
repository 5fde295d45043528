import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MetricTable, splitIntoBuckets, thinColumn } from './metric-table.ts';

function tableOf(rows: readonly object[]): MetricTable {
  const table = new MetricTable();
  for (const row of rows) table.add(Buffer.from(JSON.stringify(row)));
  return table;
}

describe('thinColumn()', () => {
  test('returns the extremes of each bucket in order', () => {
    expect(splitIntoBuckets({ from: 0, to: 9 }, 3)).toEqual([0, 3, 6, 9]);
    const column = Float64Array.of(1, 5, 2, 4, 3, Number.NaN);
    expect([...thinColumn(column, [0, 3, 6])]).toEqual([1, 5, 4, 3]);
    expect([...thinColumn(Float64Array.of(Number.NaN, Number.NaN), [0, 2])]).toEqual([
      Number.NaN,
      Number.NaN,
    ]);
  });
});

describe('MetricTable', () => {
  test('has a column per metric, with null for missing numbers', () => {
    const table = tableOf([
      { step: 1, a: 0.1, b: null, text: 'no' },
      { step: 3, a: null },
      { step: 4, a: 7, c: 1 },
    ]);
    expect(table.select()).toEqual({
      steps: [1, 3, 4],
      columns: { a: [0.1, null, 7], b: [null, null, null], c: [null, null, 1] },
      rows: 3,
    });
    expect(table.select({ from: 2 }).steps).toEqual([3, 4]);
    expect(table.select({ from: 9 })).toMatchObject({ steps: [], rows: 3 });
  });

  test('a repeated step replaces the rows after it', () => {
    const table = tableOf([
      { step: 1, a: 1 },
      { step: 2, a: 2, b: 2 },
      { step: 3, a: 3 },
      { step: 2, a: 20 },
    ]);
    expect(table.select()).toEqual({
      steps: [1, 2],
      columns: { a: [1, 20], b: [null, null] },
      rows: 2,
    });
  });

  test('names of built-in properties are ordinary columns', () => {
    const table = new MetricTable();
    table.add(Buffer.from('{"step":1,"__proto__":5,"constructor":6}'));
    const { columns } = table.select();
    expect(JSON.stringify(columns)).toBe('{"__proto__":[5],"constructor":[6]}');
  });

  test('thinned rows keep the minimum, maximum and last row', () => {
    const value = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }));
    const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 3, max: 40 }), (pairs, points) => {
        const table = tableOf(pairs.map(([a, b], i) => ({ step: 2 * i, a, b })));
        const { steps, columns, rows } = table.select({ points });
        expect(rows).toBe(pairs.length);
        expect(steps.length).toBeLessThanOrEqual(points);
        expect(steps.at(-1)).toBe(2 * (pairs.length - 1));
        expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
        for (const [name, place] of [
          ['a', 0],
          ['b', 1],
        ] as const) {
          const isNumber = (number: number | null) => number !== null;
          const all = pairs.map((pair) => pair[place]);
          const kept = columns[name]!;
          const extremes = (numbers: readonly (number | null)[]) =>
            [Math.min, Math.max].map((pick) => pick(...numbers.filter(isNumber)));
          expect(kept.at(-1)).toSatisfy((last) => last === all.at(-1));
          // Either zero is zero.
          expect(extremes(kept)).toSatisfy(([least, greatest]) => {
            const [trueLeast, trueGreatest] = extremes(all);
            return least === trueLeast && greatest === trueGreatest;
          });
        }
      }),
      { numRuns: 60 },
    );
  });
});
