import { input, linear, makeGraph } from '../../engine/graph/index.ts';
import { compile, tensor } from '../../engine/runtime/index.ts';

const SIZE = 512;
/** Milliseconds that the probe takes about. */
const DURATION = 300;

/** Floating-point operations a second of a product of two matrices on this machine, measured now. */
export async function measureMatmul(): Promise<number> {
  const graph = makeGraph({ y: linear(input('x', [SIZE, SIZE]), input('w', [SIZE, SIZE])) });
  const compiled = await compile(graph);
  const ones = () => tensor(new Float32Array(SIZE * SIZE).fill(1), [SIZE, SIZE]);
  const feeds = { x: ones(), w: ones() };
  try {
    await compiled.run(feeds);
    const start = performance.now();
    let runs = 0;
    for (; performance.now() - start < DURATION; runs++) await compiled.run(feeds);
    return (2 * SIZE ** 3 * runs * 1000) / (performance.now() - start);
  } finally {
    await compiled.dispose();
  }
}
