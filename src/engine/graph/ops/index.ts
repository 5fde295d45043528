import * as elementwise from './elementwise.ts';
import * as fused from './fused.ts';
import * as gather from './gather.ts';
import * as layout from './layout.ts';
import { adaptedLinearOp, matmulOp, mergedWeightOp } from './matmul.ts';
import { byteProductOp } from './quantized.ts';
import * as reduce from './reduce.ts';
import { constantOp, inputOp } from './source.ts';

/** Every op by name. The lowering table and the gradient tests are mapped types over this table. */
export const ops = {
  input: inputOp,
  constant: constantOp,
  add: elementwise.addOp,
  sub: elementwise.subOp,
  mul: elementwise.mulOp,
  div: elementwise.divOp,
  pow: elementwise.powOp,
  min: elementwise.minOp,
  max: elementwise.maxOp,
  equal: elementwise.equalOp,
  less: elementwise.lessOp,
  lessEqual: elementwise.lessEqualOp,
  greater: elementwise.greaterOp,
  greaterEqual: elementwise.greaterEqualOp,
  neg: elementwise.negOp,
  exp: elementwise.expOp,
  log: elementwise.logOp,
  sqrt: elementwise.sqrtOp,
  rsqrt: elementwise.rsqrtOp,
  tanh: elementwise.tanhOp,
  sigmoid: elementwise.sigmoidOp,
  erf: elementwise.erfOp,
  abs: elementwise.absOp,
  sign: elementwise.signOp,
  clip: elementwise.clipOp,
  where: elementwise.whereOp,
  cast: elementwise.castOp,
  detach: elementwise.detachOp,
  keep: elementwise.keepOp,
  matmul: matmulOp,
  mergedWeight: mergedWeightOp,
  adaptedLinear: adaptedLinearOp,
  byteProduct: byteProductOp,
  sum: reduce.sumOp,
  maxOf: reduce.maxOfOp,
  count: reduce.countOp,
  reshape: layout.reshapeOp,
  broadcastTo: layout.broadcastToOp,
  transpose: layout.transposeOp,
  slice: layout.sliceOp,
  pad: layout.padOp,
  concat: layout.concatOp,
  gatherRows: gather.gatherRowsOp,
  scatterAddRows: gather.scatterAddRowsOp,
  permuteRows: gather.permuteRowsOp,
  gatherLast: gather.gatherLastOp,
  scatterLast: gather.scatterLastOp,
  argmax: gather.argmaxOp,
  topKIndices: gather.topKIndicesOp,
  softmax: fused.softmaxOp,
  logSoftmax: fused.logSoftmaxOp,
  silu: fused.siluOp,
  rmsNorm: fused.rmsNormOp,
  rmsNormGrad: fused.rmsNormGradOp,
  rope: fused.ropeOp,
} as const;

export type OpName = keyof typeof ops;
