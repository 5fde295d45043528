import * as fc from 'fast-check';
import { type Dim, dimAdd } from '../../../../src/engine/graph/dim.ts';
import type { FunctionName } from '../call-function.ts';
import { reduction } from './layout.ts';
import type { ElementKind, Sample } from './sample.ts';
import { axisOf, dim, rank, shapes, unary } from './shapes.ts';

const dropout: fc.Arbitrary<Sample> = shapes(0, 3).map((shape) => ({
  inputs: { x: { shape, kind: 'normal' }, mask: { shape, kind: 'dropoutMask', fixed: true } },
  attributes: {},
}));

/** One to three query heads share a key head; queries may be the last of more keys. */
const attention: fc.Arbitrary<Sample> = fc
  .record({
    batch: dim('A'),
    kvHeads: rank(1, 2),
    group: rank(1, 3),
    queries: dim('B'),
    keys: dim('C'),
    size: rank(1, 3),
    bias: fc.constantFrom<ElementKind>('causalBias', 'paddingBias', 'normal'),
  })
  .map(({ batch, kvHeads, group, queries, keys, size, bias }) => ({
    inputs: {
      q: { shape: [batch, kvHeads * group, queries, size], kind: 'normal' },
      k: { shape: [batch, kvHeads, keys, size], kind: 'normal' },
      v: { shape: [batch, kvHeads, keys, size], kind: 'normal' },
      bias: {
        shape: bias === 'causalBias' ? [queries, keys] : [batch, 1, 1, keys],
        kind: bias,
        fixed: bias !== 'normal',
      },
    },
    attributes: {},
  }));

/** Different numbers in a row: if all are equal, only ε bounds the slope. */
const layerNorm: fc.Arbitrary<Sample> = fc
  .record({ shape: shapes(1, 4), epsilon: fc.constantFrom(0.1, 1) })
  .map(({ shape, epsilon }) => ({
    inputs: {
      x: { shape, kind: 'normal' },
      weight: { shape: shape.slice(-1), kind: 'normal' },
      bias: { shape: shape.slice(-1), kind: 'normal' },
    },
    attributes: { epsilon },
  }));

const tokenLogprobs: fc.Arbitrary<Sample> = fc.tuple(dim('A'), dim('B')).map(([rows, size]) => ({
  inputs: {
    logits: { shape: [rows, size], kind: 'normal' },
    tokens: { shape: [rows], kind: 'index', bound: size },
  },
  attributes: {},
}));

/** Rows [M, in] or [B, T, in]. */
const linearInputs = fc.tuple(shapes(1, 2), dim('D'), dim('E')).map(([rows, from, to]) => ({
  x: { shape: [...rows, from], kind: 'normal' as const },
  weight: { shape: [to, from], kind: 'normal' as const },
}));

const linear: fc.Arbitrary<Sample> = linearInputs.map((inputs) => ({ inputs, attributes: {} }));

const loraLinear: fc.Arbitrary<Sample> = fc
  .record({
    inputs: linearInputs,
    frozen: fc.boolean(),
    r: rank(1, 2),
    scaling: fc.constantFrom(0.5, 2),
  })
  .map(({ inputs: { x, weight }, frozen, r, scaling }) => {
    const [to, from] = weight.shape as [Dim, Dim];
    return {
      inputs: {
        x,
        weight: { ...weight, fixed: frozen },
        a: { shape: [r, from], kind: 'normal' },
        b: { shape: [to, r], kind: 'normal' },
      },
      attributes: { scaling },
    };
  });

const loraDelta: fc.Arbitrary<Sample> = loraLinear.map(
  ({ inputs: { weight: _, ...inputs }, attributes }) => ({ inputs, attributes }),
);

const split: fc.Arbitrary<Sample> = fc
  .tuple(shapes(1, 3), fc.array(rank(1, 3), { minLength: 1, maxLength: 3 }))
  .chain(([shape, sizes]) =>
    axisOf(shape.length).map((axis) => ({
      inputs: { x: { shape: shape.with(axis, sizes.reduce<Dim>(dimAdd, 0)), kind: 'normal' } },
      attributes: { sizes, axis },
    })),
  );

const sumTo: fc.Arbitrary<Sample> = fc
  .tuple(shapes(0, 4), fc.nat(4), fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
  .map(([shape, dropped, ones]) => ({
    inputs: { x: { shape, kind: 'normal' } },
    attributes: { shape: shape.map((size, i) => (ones[i] ? 1 : size)).slice(dropped) },
  }));

/** Samples of every function that is composed of ops. */
export const functionSamples: { readonly [K in FunctionName]: fc.Arbitrary<Sample> } = {
  gelu: unary('normal'),
  geluTanh: unary('normal'),
  dropout,
  attention,
  layerNorm,
  tokenLogprobs,
  linear,
  loraLinear,
  loraDelta,
  mean: reduction('normal'),
  split,
  sumTo,
};
