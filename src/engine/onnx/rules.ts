import { type Dim, sizeOf } from '../graph/dim.ts';
import type { OpName, ops } from '../graph/ops/index.ts';
import type { Value } from '../graph/value.ts';
import { lowerByteProduct } from './byte-product.ts';
import type { LoweringContext } from './lowering-context.ts';
import { onnxDataType } from './model-proto.ts';
import { lowerMatMul, lowerRowSums, MICROSOFT } from './products.ts';

type AttributesOf<K extends OpName> = Parameters<(typeof ops)[K]['infer']>[1];

interface LoweringRequest<K extends OpName> {
  readonly context: LoweringContext;
  readonly inputs: readonly string[];
  readonly attributes: AttributesOf<K>;
  readonly value: Value;
}

type Rule<K extends OpName> = (request: LoweringRequest<K>) => string;

/** Ops that become nodes; `input` and `constant` become the model's inputs and initialisers. */
export type LoweredOp = Exclude<OpName, 'input' | 'constant'>;

/** A rule for an op that is one ONNX node with the same operands. */
const direct =
  (opType: string): Rule<LoweredOp> =>
  ({ context, inputs }) =>
    context.node(opType, inputs);

/** The lowering of each op to ONNX: returns the name of the tensor with its value. */
export const rules: { readonly [K in LoweredOp]: Rule<K> } = {
  add: direct('Add'),
  sub: direct('Sub'),
  mul: direct('Mul'),
  div: direct('Div'),
  pow: direct('Pow'),
  min: direct('Min'),
  max: direct('Max'),
  equal: direct('Equal'),
  less: direct('Less'),
  lessEqual: direct('LessOrEqual'),
  greater: direct('Greater'),
  greaterEqual: direct('GreaterOrEqual'),
  detach: direct('Identity'),
  keep: direct('Identity'),
  neg: direct('Neg'),
  exp: direct('Exp'),
  log: direct('Log'),
  sqrt: direct('Sqrt'),
  rsqrt: ({ context, inputs }) => context.node('Reciprocal', [context.node('Sqrt', inputs)]),
  tanh: direct('Tanh'),
  sigmoid: direct('Sigmoid'),
  erf: direct('Erf'),
  abs: direct('Abs'),
  sign: ({ context, inputs: [x = ''] }) => {
    if (context.target === 'cpu') return context.node('Sign', [x]);
    const zero = context.scalar(0);
    const [above, below] = ['Greater', 'Less'].map((comparison) =>
      context.node('Cast', [context.node(comparison, [x, zero])], {
        attributes: { to: BigInt(onnxDataType.float32) },
      }),
    );
    return context.node('Sub', [above!, below!]);
  },
  clip: ({ context, inputs, attributes: { min, max } }) =>
    context.node('Clip', [...inputs, context.scalar(min), context.scalar(max)]),
  where: direct('Where'),
  cast: ({ context, inputs, attributes: { to } }) =>
    context.node('Cast', inputs, { attributes: { to: BigInt(onnxDataType[to]) } }),

  matmul: ({ context, inputs: [a = '', b = ''], attributes, value }) => {
    const [rankA = 2, rankB = 2] = value.inputs.map(({ shape }) => shape.length);
    return lowerMatMul(context, [a, b], { ...attributes, ranks: [rankA, rankB] });
  },
  mergedWeight: ({ context, inputs: [w = '', a = '', b = ''], attributes: { scaling } }) =>
    context.node('Add', [w, lowerMatMul(context, [b, a], { alpha: scaling })]),
  adaptedLinear: ({ context, inputs: [x = '', w = ''], value }) => {
    const rank = value.inputs[0]!.shape.length;
    return lowerMatMul(context, [x, w], { transB: true, ranks: [rank, 2] });
  },

  byteProduct: ({ context, inputs, attributes, value }) => {
    const [inner, out] = [value.inputs[0]!.shape[1]!, value.shape[1]!];
    return lowerByteProduct(context, { inputs, inner, out, ...attributes });
  },

  sum: ({ context, inputs, attributes: { axes } }) =>
    context.node('ReduceSum', [...inputs, context.integers(axes)]),
  maxOf: ({ context, inputs, attributes: { axes } }) =>
    context.node('ReduceMax', [...inputs, context.integers(axes)]),
  count: ({ context, attributes: { axes }, value }) => {
    const spanned = sizeOf(axes.map((axis) => value.inputs[0]?.shape[axis] as Dim));
    const size = context.node('Squeeze', [context.sizes([spanned])]);
    return context.node('Cast', [size], { attributes: { to: BigInt(onnxDataType.float32) } });
  },

  reshape: ({ context, inputs, attributes: { shape } }) =>
    context.node('Reshape', [...inputs, context.sizes(shape)], { attributes: { allowzero: 1n } }),
  broadcastTo: ({ context, inputs, attributes: { shape } }) =>
    context.node('Expand', [...inputs, context.sizes(shape)]),
  transpose: ({ context, inputs, attributes: { permutation } }) =>
    context.node('Transpose', inputs, { attributes: { perm: permutation } }),
  slice: ({ context, inputs, attributes: { axis, start, end } }) =>
    context.node('Slice', [
      ...inputs,
      context.sizes([start]),
      context.sizes([end]),
      context.integers([axis]),
    ]),
  pad: ({ context, inputs, attributes: { axis, before, after } }) =>
    context.node('Pad', [...inputs, context.sizes([before, after]), '', context.integers([axis])]),
  concat: ({ context, inputs, attributes: { axis } }) =>
    context.node('Concat', inputs, { attributes: { axis: BigInt(axis) } }),

  gatherRows: ({ context, inputs }) => context.node('Gather', inputs),
  permuteRows: ({ context, inputs }) => context.node('Gather', inputs.slice(0, 2)),
  scatterAddRows: ({ context, inputs: [updates = '', index = ''], value }) => {
    const [updatesShape, indexShape] = value.inputs.map((x) => x.shape) as [Dim[], Dim[]];
    const rowShape = updatesShape.slice(indexShape.length);
    const flat = [sizeOf(indexShape), ...rowShape];
    if (context.target === 'webgpu') {
      return lowerRowSums(context, { updates, index, flat, shape: value.shape });
    }
    const column = context.sizes([flat[0] as Dim, ...rowShape.map(() => 1)]);
    const rowOf = context.node('Expand', [
      context.node('Reshape', [index, column]),
      context.sizes(flat),
    ]);
    const rows = context.node('Reshape', [updates, context.sizes(flat)]);
    return context.node('ScatterElements', [zeros(context, value), rowOf, rows], {
      attributes: { axis: 0n, reduction: 'add' },
    });
  },
  gatherLast: ({ context, inputs: [x = '', index = ''] }) => {
    const last = context.integers([-1]);
    const picked = context.node('GatherElements', [x, context.node('Unsqueeze', [index, last])], {
      attributes: { axis: -1n },
    });
    return context.node('Squeeze', [picked, last]);
  },
  scatterLast: ({ context, inputs, value }) => {
    const [updates = '', index = ''] = inputs.map((name) =>
      context.node('Unsqueeze', [name, context.integers([-1])]),
    );
    return context.node('ScatterElements', [zeros(context, value), index, updates], {
      attributes: { axis: -1n },
    });
  },
  argmax: ({ context, inputs }) => {
    const index = context.node('ArgMax', inputs, { attributes: { axis: -1n, keepdims: 0n } });
    return context.node('Cast', [index], { attributes: { to: BigInt(onnxDataType.int32) } });
  },
  topKIndices: ({ context, inputs, attributes: { k } }) => {
    const index = context.node('TopK', [...inputs, context.integers([k])], { output: 1 });
    return context.node('Cast', [index], { attributes: { to: BigInt(onnxDataType.int32) } });
  },

  logSoftmax: ({ context, inputs: [x = ''] }) => {
    if (context.target === 'cpu')
      return context.node('LogSoftmax', [x], { attributes: { axis: -1n } });
    const last = context.integers([-1]);
    const shifted = context.node('Sub', [x, context.node('ReduceMax', [x, last])]);
    const sum = context.node('ReduceSum', [context.node('Exp', [shifted]), last]);
    return context.node('Sub', [shifted, context.node('Log', [sum])]);
  },
  softmax: ({ context, inputs }) => context.node('Softmax', inputs, { attributes: { axis: -1n } }),
  silu: ({ context, inputs }) =>
    context.node('QuickGelu', inputs, { domain: MICROSOFT, attributes: { alpha: 1 } }),
  rmsNorm: (request) => norm(request).y,
  rmsNormGrad: ({ context, inputs: [x = '', w = '', dy = ''], attributes }) => {
    const { y, inverse } = norm({ context, inputs: [x, w], attributes });
    const r = inverse();
    const mul = (a: string, b: string) => context.node('Mul', [a, b]);
    const mean = context.node('ReduceMean', [mul(dy, y), context.integers([-1])]);
    return mul(context.node('Sub', [mul(dy, w), mul(x, mul(r, mean))]), r);
  },
  rope: ({ context, inputs: [x = '', cos = '', sin = ''], value }) => {
    const [rows, heads, size] = value.shape as [Dim, number, number];
    const batch = context.node('Reshape', [x, context.sizes([1, rows, heads * size])]);
    const rotated = context.node('RotaryEmbedding', [batch, context.integers([0]), cos, sin], {
      domain: MICROSOFT,
      attributes: { num_heads: BigInt(heads) },
    });
    return context.node('Reshape', [rotated, context.sizes(value.shape)]);
  },
};

/** The norm y = w·x·r, and r by `inverse`; a graph's norm and its gradient share one node. */
function norm({
  context,
  inputs,
  attributes: { epsilon },
}: Pick<LoweringRequest<'rmsNorm'>, 'context' | 'inputs' | 'attributes'>) {
  const shared = (outputs: number) =>
    context.sharedNode('SimplifiedLayerNormalization', inputs, {
      attributes: { axis: -1n, epsilon },
      outputs,
    });
  if (context.target === 'webgpu') {
    return { y: shared(1)[0]!, inverse: () => inverseRoot(context, inputs[0]!, epsilon) };
  }
  const [y = '', r = ''] = shared(2);
  return { y, inverse: () => r };
}

/** r = 1/√(mean(x²) + ε) per row. The WebGPU provider's norm returns another number as its second output. */
function inverseRoot(context: LoweringContext, x: string, epsilon: number): string {
  return context.reuse(`inverse root ${epsilon} ${x}`, () => {
    const mean = context.node('ReduceMean', [context.node('Mul', [x, x]), context.integers([-1])]);
    const root = context.node('Sqrt', [context.node('Add', [mean, context.scalar(epsilon)])]);
    return context.node('Reciprocal', [root]);
  });
}

function zeros(context: LoweringContext, { shape }: Value): string {
  if (context.target === 'webgpu') {
    return context.node('Expand', [context.scalar(0), context.sizes(shape)]);
  }
  return context.node('ConstantOfShape', [context.sizes(shape)]);
}
