import type * as fc from 'fast-check';
import type { OpName } from '../../../../src/engine/graph/ops/index.ts';
import { elementwiseSamples } from './elementwise.ts';
import { fusedSamples } from './fused.ts';
import { gatherSamples } from './gather.ts';
import { layoutSamples, reduction } from './layout.ts';
import { adaptedLinearSamples, byteProductSamples, matmulSamples } from './matmul.ts';
import type { Sample } from './sample.ts';

/** Samples of every op, or a note that it has no gradient: a new op without an entry does not compile. */
export const opSamples: { readonly [K in OpName]: fc.Arbitrary<Sample> | 'no gradient' } = {
  input: 'no gradient',
  constant: 'no gradient',
  ...elementwiseSamples,
  matmul: matmulSamples,
  mergedWeight: 'no gradient',
  adaptedLinear: adaptedLinearSamples,
  byteProduct: byteProductSamples,
  sum: reduction('normal'),
  maxOf: reduction('distinct'),
  count: 'no gradient',
  ...layoutSamples,
  ...gatherSamples,
  ...fusedSamples,
  rmsNormGrad: 'no gradient',
};
