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

/** x·W for bytes W [k, n] or, transposed, [n, k]. The weight is converted to float32: finite differences
 *  would see the steps of quantized rows. */
export const byteProductSamples: fc.Arbitrary<Sample> = fc
  .record({
    m: dim('C'),
    k: fc.integer({ min: 1, max: 4 }),
    n: fc.integer({ min: 1, max: 4 }),
    transposed: fc.boolean(),
    bytes: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 16, maxLength: 16 }),
  })
  .map(({ m, k, n, transposed, bytes }) => ({
    inputs: {
      x: { shape: [m, k], kind: 'normal' },
      scales: { shape: [n], kind: 'positive', fixed: true },
    },
    attributes: { shape: transposed ? [n, k] : [k, n], bytes: bytes.slice(0, k * n), transposed },
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
