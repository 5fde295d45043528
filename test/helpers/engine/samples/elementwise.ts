import * as fc from 'fast-check';
import type { ElementKind, Sample } from './sample.ts';
import { broadcastShapes, shapes, unary } from './shapes.ts';

function binary(a: ElementKind, b: ElementKind): fc.Arbitrary<Sample> {
  return broadcastShapes(2, 4).map(([left = [], right = []]) => ({
    inputs: { a: { shape: left, kind: a }, b: { shape: right, kind: b } },
    attributes: {},
  }));
}

const clip: fc.Arbitrary<Sample> = fc
  .record({
    shape: shapes(0, 4),
    min: fc.constantFrom(-Infinity, -1, -0.5),
    max: fc.constantFrom(0.25, 1, Infinity),
  })
  .map(({ shape, min, max }) => ({
    inputs: { x: { shape, kind: 'offGrid' } },
    attributes: { min, max },
  }));

const where: fc.Arbitrary<Sample> = broadcastShapes(3, 4).map(([c = [], a = [], b = []]) => ({
  inputs: {
    condition: { shape: c, kind: 'condition' },
    a: { shape: a, kind: 'normal' },
    b: { shape: b, kind: 'normal' },
  },
  attributes: {},
}));

export const elementwiseSamples = {
  add: binary('normal', 'normal'),
  sub: binary('normal', 'normal'),
  mul: binary('normal', 'normal'),
  div: binary('normal', 'nonzero'),
  pow: binary('positive', 'normal'),
  min: binary('grid', 'offGrid'),
  max: binary('grid', 'offGrid'),
  equal: 'no gradient',
  less: 'no gradient',
  lessEqual: 'no gradient',
  greater: 'no gradient',
  greaterEqual: 'no gradient',
  neg: unary('normal'),
  exp: unary('normal'),
  log: unary('positive'),
  sqrt: unary('positive'),
  rsqrt: unary('positive'),
  tanh: unary('normal'),
  sigmoid: unary('normal'),
  erf: unary('normal'),
  abs: unary('nonzero'),
  sign: 'no gradient',
  clip,
  where,
  cast: 'no gradient',
  detach: 'no gradient',
  keep: unary('normal'),
} as const;
