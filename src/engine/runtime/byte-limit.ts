import { byteProduct, constant, input, makeGraph } from '../graph/index.ts';
import { compile } from './compile.ts';
import { tensor } from './tensor.ts';

let limit: Promise<127 | 63> | undefined;

/**
 * The largest magnitude of a quantized row that byte products multiply exactly, found by a test product.
 * Processors without instructions for dot products of bytes add two products in 16 bits, where
 * 255·127·2 overflows; with rows of 7 bits nothing does. Weights use 8 bits on every processor.
 */
export function byteLimit(): Promise<127 | 63> {
  limit ??= measureLimit();
  return limit;
}

async function measureLimit(): Promise<127 | 63> {
  const size = 64;
  const weight = constant(new Int8Array(size * size).fill(127), {
    dtype: 'int8',
    shape: [size, size],
  });
  const x = input('x', ['M', size]);
  const y = byteProduct(x, { weight }, { rows: 'one-byte', maxByte: 127 });
  const graph = await compile(makeGraph({ y }));
  // Each number is quantized to the byte 255.
  const result = await graph.run({ x: tensor(new Float32Array(4 * size).fill(127), [4, size]) });
  await graph.dispose();
  return result.y!.data.every((sum) => sum === size * 127 * 127) ? 127 : 63;
}
