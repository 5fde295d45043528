import { expect, test } from 'vitest';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { joinRows, PartJoiner, rowsOf } from './join-rows.ts';

const top = tensor(Float32Array.of(1, 2), [1, 2]);
const bottom = tensor(Float32Array.of(3, 4, 5, 6), [2, 2]);

test('joinRows() puts tensors one below another', () => {
  const joined = tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]);
  expect(joinRows([top, bottom])).toEqual(joined);
  expect(joinRows([top])).toBe(top);
  const room = new Float32Array(8);
  expect(joinRows([top, bottom], room)).toEqual(joined);
  expect([...room]).toEqual([1, 2, 3, 4, 5, 6, 0, 0]);
  expect(joinRows([top, bottom], new Float32Array(5))).toEqual(joined);
});

test('rowsOf() takes rows without copying', () => {
  const rows = rowsOf(bottom, { start: 1, end: 2 });
  expect(rows).toEqual(tensor(Float32Array.of(5, 6), [1, 2]));
  expect(rows.data.buffer).toBe(bottom.data.buffer);
});

test('PartJoiner joins what a graph takes, in the same memory each time', () => {
  const joiner = new PartJoiner();
  const graph = { inputs: { x: top } };
  const parts = [
    { x: top, k: top },
    { x: bottom, k: bottom },
  ];
  const first = joiner.join(parts, graph);
  expect(Object.keys(first)).toEqual(['x']);
  expect([...first.x!.data]).toEqual([1, 2, 3, 4, 5, 6]);
  const second = joiner.join([{ x: bottom }, { x: top }], graph).x as Tensor<'float32'>;
  expect([...second.data]).toEqual([3, 4, 5, 6, 1, 2]);
  expect(second.data.buffer).toBe(first.x!.data.buffer);
  expect(joiner.join([parts[0]!], graph)).toBe(parts[0]);
});
