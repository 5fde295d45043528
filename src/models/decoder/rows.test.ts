import { describe, expect, it, test } from 'vitest';
import { tensor } from '../../engine/runtime/index.ts';
import { concatRows, scatterRows, sliceRows, takeRows } from './rows.ts';

const top = tensor(Float32Array.of(1, 2), [1, 2]);
const bottom = tensor(Float32Array.of(3, 4, 5, 6), [2, 2]);

test('takeRows() copies rows in the given order', () => {
  const taken = takeRows(bottom, [1, 0, 1]);
  expect(taken).toEqual(tensor(Float32Array.of(5, 6, 3, 4, 5, 6), [3, 2]));
});

test('concatRows() concatenates tensors, in existing memory if it is large enough', () => {
  const joined = tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]);
  expect(concatRows([top, bottom])).toEqual(joined);
  expect(concatRows([top])).toBe(top);
  const memory = new Float32Array(8);
  expect(concatRows([top, bottom], memory)).toEqual(joined);
  expect([...memory]).toEqual([1, 2, 3, 4, 5, 6, 0, 0]);
  expect(concatRows([top, bottom], new Float32Array(5))).toEqual(joined);
});

test('sliceRows() returns a view', () => {
  const rows = sliceRows(bottom, { start: 1, end: 2 });
  expect(rows).toEqual(tensor(Float32Array.of(5, 6), [1, 2]));
  expect(rows.data.buffer).toBe(bottom.data.buffer);
});

describe('scatterRows()', () => {
  const part = tensor(Float32Array.of(1, 2, 3, 4), [2, 2]);

  it('adds up rows with the same target', () => {
    expect([...scatterRows(part, [1, 1], 2).data]).toEqual([0, 0, 4, 6]);
  });

  it('leaves the other rows at zero', () => {
    const { data, shape } = scatterRows(part, [2, 0], 4);
    expect(shape).toEqual([4, 2]);
    expect([...data]).toEqual([3, 4, 0, 0, 1, 2, 0, 0]);
  });
});
