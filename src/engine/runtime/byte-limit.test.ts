import { expect, test } from 'vitest';
import { byteProduct, constant, input, makeGraph } from '../graph/index.ts';
import { byteLimit, compile, tensor } from './index.ts';

test('rows up to byteLimit() are multiplied exactly by the largest weights, for one row and for many', async () => {
  const maxByte = await byteLimit();
  const size = 96;
  const weight = constant(new Int8Array(size).fill(127), { dtype: 'int8', shape: [size, 1] });
  const y = byteProduct(input('x', ['M', size]), { weight }, { rows: 'one-byte', maxByte });
  const graph = await compile(makeGraph({ y }));
  for (const count of [1, 2, 3, 16, 40]) {
    const x = tensor(new Float32Array(count * size).fill(maxByte), [count, size]);
    const product = (await graph.run({ x })).y!;
    expect([...product.data]).toEqual(Array(count).fill(size * 127 * maxByte));
  }
  await graph.dispose();
});
