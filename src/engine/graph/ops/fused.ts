import { type Dim, sameShape } from '../dim.ts';
import { apply, defineOp, expectDType, type Node, typeError, type Value } from '../value.ts';
import { add, exp, mul, neg, rsqrt, sigmoid, sub } from './elementwise.ts';
import { mean, sum } from './reduce.ts';

type None = Readonly<Record<string, never>>;
type Unary = readonly [Value];

function sameAsFirst(name: string) {
  return (inputs: readonly [Value, ...Value[]]) => {
    expectDType(name, 'float32', inputs);
    return inputs[0];
  };
}

/** softmax over the last axis: y = e^x / Σe^x;  dx = y·(dy − Σ dy·y). */
export const softmaxOp = defineOp({
  name: 'softmax',
  infer(inputs: Unary, _: None) {
    if (inputs[0].shape.length === 0) {
      throw typeError('softmax', 'the input must have an axis', inputs);
    }
    return sameAsFirst('softmax')(inputs);
  },
  vjp({ output: y }: Node<Unary, None>, dy: Value) {
    return [mul(y, sub(dy, sum(mul(dy, y), [-1])))];
  },
});

/** log softmax over the last axis: y = x − log Σe^x;  dx = dy − e^y·Σ dy. */
export const logSoftmaxOp = defineOp({
  name: 'logSoftmax',
  infer(inputs: Unary, _: None) {
    if (inputs[0].shape.length === 0) {
      throw typeError('logSoftmax', 'the input must have an axis', inputs);
    }
    return sameAsFirst('logSoftmax')(inputs);
  },
  vjp({ output: y }: Node<Unary, None>, dy: Value) {
    return [sub(dy, mul(exp(y), sum(dy, [-1])))];
  },
});

/** SiLU (arXiv:1702.03118): y = x·σ(x);  dx = dy·(y + σ(x)·(1 − y)). */
export const siluOp = defineOp({
  name: 'silu',
  infer: (inputs: Unary, _: None) => sameAsFirst('silu')(inputs),
  vjp({ inputs: [x], output: y }: Node<Unary, None>, dy: Value) {
    return [mul(dy, add(y, mul(sigmoid(x), sub(1, y))))];
  },
});

type NormAttributes = {
  readonly epsilon: number;
};

/**
 * RMSNorm (arXiv:1910.07467) over the last axis: y = w·x·r with r = 1/√(mean(x²) + ε).
 * dx = r·(w·dy − x·r·mean(dy·y)), computed by `rmsNormGrad`;  dw = Σ dy·x·r.
 */
export const rmsNormOp = defineOp({
  name: 'rmsNorm',
  infer(inputs: readonly [Value, Value], _: NormAttributes) {
    const [x, weight] = inputs;
    if (x.shape.length === 0 || !sameShape(weight.shape, x.shape.slice(-1))) {
      throw typeError('rmsNorm', 'the weight must have the shape of the last axis', inputs);
    }
    return sameAsFirst('rmsNorm')(inputs);
  },
  vjp({ inputs: [x, w], attributes }: Node<readonly [Value, Value], NormAttributes>, dy: Value) {
    const r = rsqrt(add(mean(mul(x, x), [-1]), attributes.epsilon));
    return [apply(rmsNormGradOp, [x, w, dy], attributes), mul(dy, mul(x, r))];
  },
});

/** ∂L/∂x of `rmsNorm`, without a gradient of its own. An op because ONNX Runtime's norm also returns r. */
export const rmsNormGradOp = defineOp({
  name: 'rmsNormGrad',
  infer: ([x]: readonly [Value, Value, Value], _: NormAttributes) => x,
});

type Rotated = readonly [Value, Value, Value];

/**
 * Rotary position embedding (arXiv:2104.09864), half-split as in Hugging Face models.
 * x is [M, heads, D]; cos and sin have each row's angles, [M, D/2]:
 * y = (x₁·cos − x₂·sin, x₂·cos + x₁·sin). Its gradient is the inverse rotation.
 */
export const ropeOp = defineOp({
  name: 'rope',
  infer(inputs: Rotated, _: None) {
    const [x, cos, sin] = inputs;
    const [rows, , size] = x.shape as [Dim, Dim, number];
    const angles = [rows, size / 2];
    if (x.shape.length !== 3 || !sameShape(cos.shape, angles) || !sameShape(sin.shape, angles)) {
      throw typeError('rope', 'inputs must be [M,heads,D] and two tables [M,D/2]', inputs);
    }
    return sameAsFirst('rope')(inputs);
  },
  vjp: ({ inputs: [, cos, sin] }: Node<Rotated, None>, dy: Value) => [
    rope(dy, cos, neg(sin)),
    null,
    null,
  ],
});

/** e^x / Σe^x over the last axis. */
export const softmax = (x: Value) => apply(softmaxOp, [x], {});
/** x − log Σe^x over the last axis, numerically stable. */
export const logSoftmax = (x: Value) => apply(logSoftmaxOp, [x], {});
/** SiLU, x·σ(x): the activation of Llama-like feed-forward layers. */
export const silu = (x: Value) => apply(siluOp, [x], {});
/** RMSNorm over the last axis, scaled by `weight`. */
export const rmsNorm = (x: Value, weight: Value, epsilon: number) =>
  apply(rmsNormOp, [x, weight], { epsilon });
/** Applies rotary position embeddings to x, [M, heads, D], with each row's angles. */
export const rope = (x: Value, cos: Value, sin: Value): Value => apply(ropeOp, [x, cos, sin], {});
