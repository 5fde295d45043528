import { input, linear, makeGraph } from '../src/engine/graph/index.ts';
import { compile, tensor } from '../src/engine/runtime/index.ts';
import { time } from './measure.ts';

/**
 * Memory bandwidth in GB/s: the best of several passes over 1 GB, read once by all threads. A product
 * with one row is the fastest reader among ONNX Runtime's kernels; sums and maxima reach three
 * quarters of it.
 */
export async function measureBandwidth(): Promise<number> {
  const rows = 2 ** 18;
  const columns = 2 ** 10;
  const weight = input('w', [rows, columns]);
  const graph = await compile(makeGraph({ y: linear(input('x', [1, columns]), weight) }));
  const ones = (size: number) => new Float32Array(size).fill(1);
  const feeds = {
    x: tensor(ones(columns), [1, columns]),
    w: tensor(ones(rows * columns), [rows, columns]),
  };
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 8; i++) best = Math.min(best, await time(() => graph.run(feeds)));
  await graph.dispose();
  return (rows * columns * 4) / best / 1e6;
}
