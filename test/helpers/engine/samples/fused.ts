import * as fc from 'fast-check';
import type { Sample } from './sample.ts';
import { dim, shapes, unary } from './shapes.ts';

const rmsNorm: fc.Arbitrary<Sample> = fc
  .record({ shape: shapes(1, 4), epsilon: fc.constantFrom(1e-6, 0.1) })
  .map(({ shape, epsilon }) => ({
    inputs: {
      x: { shape, kind: 'nonzero' },
      weight: { shape: shape.slice(-1), kind: 'normal' },
    },
    attributes: { epsilon },
  }));

const rope: fc.Arbitrary<Sample> = fc
  .record({ rows: dim('A'), heads: fc.integer({ min: 1, max: 3 }), half: fc.constantFrom(1, 2, 3) })
  .map(({ rows, heads, half }) => ({
    inputs: {
      x: { shape: [rows, heads, 2 * half], kind: 'normal' },
      cos: { shape: [rows, half], kind: 'normal', fixed: true },
      sin: { shape: [rows, half], kind: 'normal', fixed: true },
    },
    attributes: {},
  }));

export const fusedSamples = {
  softmax: unary('normal', shapes(1, 4)),
  logSoftmax: unary('normal', shapes(1, 4)),
  silu: unary('normal'),
  rmsNorm,
  rope,
};
