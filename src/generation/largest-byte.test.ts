import { expect, test } from 'vitest';
import { byteMatmul, constant, input, makeGraph, toBytes } from '../engine/graph/index.ts';
import { compile, tensor } from '../engine/runtime/index.ts';
import { largestByte } from './largest-byte.ts';

test('products of bytes are exact up to the largest one, for one row and for many', async () => {
  const most = await largestByte();
  const size = 96;
  const weight = constant(new Int8Array(size).fill(most), { dtype: 'int8', shape: [size, 1] });
  const rows = toBytes(input('x', ['M', size]));
  const y = byteMatmul(rows, weight, constant(1, { shape: [1] }));
  const graph = await compile(makeGraph({ y }));
  for (const count of [1, 2, 3, 16, 40]) {
    const x = tensor(new Float32Array(count * size).fill(127), [count, size]);
    const found = (await graph.run({ x })).y!;
    expect([...found.data]).toEqual(Array(count).fill(size * 127 * most));
  }
  await graph.dispose();
});
