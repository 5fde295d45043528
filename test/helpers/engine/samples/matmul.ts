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

/** Rows [M, in] times a frozen weight [out, in] with an adapter. */
export const adaptedLinearSamples: fc.Arbitrary<Sample> = fc
  .record({
    rows: dim('C'),
    inner: dim('D'),
    out: dim('E'),
    r: fc.integer({ min: 1, max: 3 }),
    scaling: fc.constantFrom(0.5, 2),
  })
  .map(({ rows, inner, out, r, scaling }) => ({
    inputs: {
      x: { shape: [rows, inner], kind: 'normal' },
      weight: { shape: [out, inner], kind: 'normal', fixed: true },
      a: { shape: [r, inner], kind: 'normal' },
      b: { shape: [out, r], kind: 'normal' },
    },
    attributes: { scaling },
  }));
