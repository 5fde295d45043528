import { byteMatmul, constant, input, makeGraph, toBytes } from '../engine/graph/index.ts';
import { compile, tensor } from '../engine/runtime/index.ts';

/**
 * The largest byte that weights may use. Processors without instructions for products of bytes add two
 * of them up in 16 bits, where 255·127·2 does not fit; with 7 bits nothing overflows.
 */
export async function largestByte(): Promise<127 | 63> {
  const size = 64;
  const weight = constant(new Int8Array(size * size).fill(127), {
    dtype: 'int8',
    shape: [size, size],
  });
  const scales = constant(new Float32Array(size).fill(1), { shape: [size] });
  const rows = toBytes(input('x', ['M', size]));
  const graph = await compile(makeGraph({ y: byteMatmul(rows, weight, scales) }));
  // Each number becomes the byte 255.
  const x = tensor(new Float32Array(4 * size).fill(127), [4, size]);
  const { y } = await graph.run({ x });
  await graph.dispose();
  return y!.data.every((sum) => sum === size * 127 * 127) ? 127 : 63;
}
