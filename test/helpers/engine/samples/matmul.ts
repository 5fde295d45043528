import * as fc from 'fast-check';
import type { Sample } from './sample.ts';
import { broadcastShapes, dim } from './shapes.ts';

/** [m, k] · [k, n] under broadcast batch axes, either side transposed. */
export const matmulSamples: fc.Arbitrary<Sample> = fc
  .record({
    batches: broadcastShapes(2, 2),
    m: dim('C'),
    k: dim('D'),
    n: dim('E'),
    transA: fc.boolean(),
    transB: fc.boolean(),
    alpha: fc.constantFrom(1, 0.5, -1.25),
  })
  .map(({ batches: [a = [], b = []], m, k, n, ...attributes }) => ({
    inputs: {
      a: { shape: [...a, ...(attributes.transA ? [k, m] : [m, k])], kind: 'normal' },
      b: { shape: [...b, ...(attributes.transB ? [n, k] : [k, n])], kind: 'normal' },
    },
    attributes,
  }));
