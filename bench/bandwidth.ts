import { input, makeGraph, maxOf } from '../src/engine/graph/index.ts';
import { compile, tensor } from '../src/engine/runtime/index.ts';
import { time } from './measure.ts';

/** Memory bandwidth in GB/s: the best of several reads of 1 GB by all threads. */
export async function measureBandwidth(): Promise<number> {
  const rows = 256;
  const columns = 2 ** 20;
  const graph = await compile(makeGraph({ y: maxOf(input('x', ['R', 'C']), [1]) }));
  const feeds = { x: tensor(new Float32Array(rows * columns).fill(1), [rows, columns]) };
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 8; i++) best = Math.min(best, await time(() => graph.run(feeds)));
  await graph.dispose();
  return (rows * columns * 4) / best / 1e6;
}
