import {
  apply,
  broadcastShapes,
  type DType,
  defineOp,
  expectDType,
  type Node,
  typeError,
  type Value,
} from '../value.ts';
import { toValue } from './source.ts';

type None = Readonly<Record<string, never>>;
type Unary = readonly [Value];
type Binary = readonly [Value, Value];
type Operand = Value | number;

function unaryOp<const N extends string>(
  name: N,
  derivative?: (node: Node<Unary, None>, dy: Value) => Value,
) {
  return defineOp<N, Unary, None>({
    name,
    infer(inputs) {
      expectDType(name, 'float32', inputs);
      return inputs[0];
    },
    ...(derivative && { vjp: (node: Node<Unary, None>, dy: Value) => [derivative(node, dy)] }),
  });
}

function binaryOp<const N extends string>(
  name: N,
  vjp?: (node: Node<Binary, None>, dy: Value) => readonly [Value, Value],
) {
  return defineOp<N, Binary, None>({
    name,
    infer(inputs) {
      const dtype = numericDType(name, inputs);
      return { dtype, shape: broadcastShapes(name, inputs) };
    },
    ...(vjp && { vjp }),
  });
}

function comparisonOp<const N extends string>(name: N) {
  return defineOp<N, Binary, None>({
    name,
    infer(inputs) {
      numericDType(name, inputs);
      return { dtype: 'bool', shape: broadcastShapes(name, inputs) };
    },
  });
}

function numericDType(name: string, [a, b]: Binary): DType {
  if (a.dtype !== b.dtype || (a.dtype !== 'float32' && a.dtype !== 'int32')) {
    throw typeError(name, 'inputs must both be float32 or both int32', [a, b]);
  }
  return a.dtype;
}

const one = (op: ReturnType<typeof unaryOp>) => (x: Value) => apply(op, [x], {});
const two = (op: ReturnType<typeof binaryOp | typeof comparisonOp>) => (a: Operand, b: Operand) => {
  const dtype = typeof a === 'object' ? a.dtype : typeof b === 'object' ? b.dtype : 'float32';
  return apply(op, [toValue(a, dtype), toValue(b, dtype)], {});
};

/** Elementwise a + b, with broadcasting. */
export const addOp = binaryOp('add', (_, dy) => [dy, dy]);
/** Elementwise a − b, with broadcasting. */
export const subOp = binaryOp('sub', (_, dy) => [dy, neg(dy)]);
/** Elementwise a · b, with broadcasting. */
export const mulOp = binaryOp('mul', ({ inputs: [a, b] }, dy) => [mul(dy, b), mul(dy, a)]);
/** Elementwise a / b, with broadcasting. */
export const divOp = binaryOp('div', ({ inputs: [, b], output }, dy) => {
  const da = div(dy, b);
  return [da, neg(mul(da, output))];
});
/** a^b; the exponent's gradient needs a > 0. */
export const powOp = binaryOp('pow', ({ inputs: [a, b], output }, dy) => [
  mul(dy, mul(b, pow(a, sub(b, 1)))),
  mul(dy, mul(output, log(a))),
]);
/** If both are equal, each gets half of the gradient. */
export const minOp = binaryOp('min', ({ inputs: [a, b] }, dy) => shareByOrder(a, b, dy));
/** Elementwise larger value; where both are equal, each gets half of the gradient. */
export const maxOp = binaryOp('max', ({ inputs: [a, b] }, dy) => shareByOrder(b, a, dy));

/** Elementwise a = b, as booleans without a gradient. */
export const equalOp = comparisonOp('equal');
/** Elementwise a < b, as booleans without a gradient. */
export const lessOp = comparisonOp('less');
/** Elementwise a ≤ b, as booleans without a gradient. */
export const lessEqualOp = comparisonOp('lessEqual');
/** Elementwise a > b, as booleans without a gradient. */
export const greaterOp = comparisonOp('greater');
/** Elementwise a ≥ b, as booleans without a gradient. */
export const greaterEqualOp = comparisonOp('greaterEqual');

/** Elementwise −x. */
export const negOp = unaryOp('neg', (_, dy) => neg(dy));
/** Elementwise e^x. */
export const expOp = unaryOp('exp', ({ output }, dy) => mul(dy, output));
/** Elementwise natural logarithm. */
export const logOp = unaryOp('log', ({ inputs: [x] }, dy) => div(dy, x));
/** Elementwise √x. */
export const sqrtOp = unaryOp('sqrt', ({ output }, dy) => div(mul(dy, 0.5), output));
/** Elementwise 1/√x. */
export const rsqrtOp = unaryOp('rsqrt', ({ inputs: [x], output }, dy) =>
  mul(dy, div(mul(output, -0.5), x)),
);
/** Elementwise hyperbolic tangent. */
export const tanhOp = unaryOp('tanh', ({ output }, dy) => mul(dy, sub(1, mul(output, output))));
/** Elementwise σ(x) = 1/(1 + e^−x). */
export const sigmoidOp = unaryOp('sigmoid', ({ output }, dy) =>
  mul(dy, mul(output, sub(1, output))),
);
/** Elementwise error function, which the exact GELU needs. */
export const erfOp = unaryOp('erf', ({ inputs: [x] }, dy) =>
  mul(dy, mul(exp(neg(mul(x, x))), 2 / Math.sqrt(Math.PI))),
);
/** Elementwise |x|; the gradient at 0 is 0. */
export const absOp = unaryOp('abs', ({ inputs: [x] }, dy) => mul(dy, sign(x)));
/** Elementwise sign: −1, 0 or 1, without a gradient. */
export const signOp = unaryOp('sign');

type ClipAttributes = {
  readonly min: number;
  readonly max: number;
};

/** Limits to [min, max]; the gradient passes on the closed interval. */
export const clipOp = defineOp({
  name: 'clip',
  infer(inputs: Unary, _: ClipAttributes) {
    expectDType('clip', 'float32', inputs);
    return inputs[0];
  },
  vjp({ inputs: [x], attributes: { min, max } }: Node<Unary, ClipAttributes>, dy: Value) {
    return [where(greaterEqual(x, min), where(lessEqual(x, max), dy, 0), 0)];
  },
});

/** Elementwise choice: a where the condition is true, else b. */
export const whereOp = defineOp({
  name: 'where',
  infer(inputs: readonly [Value, Value, Value], _: None) {
    const [condition, a, b] = inputs;
    if (condition.dtype !== 'bool' || a.dtype !== b.dtype) {
      throw typeError('where', 'it takes a bool and two tensors of one dtype', inputs);
    }
    return { dtype: a.dtype, shape: broadcastShapes('where', inputs) };
  },
  vjp({ inputs: [condition] }: Node<readonly [Value, Value, Value], None>, dy: Value) {
    return [null, where(condition, dy, 0), where(condition, 0, dy)];
  },
});

type CastAttributes = {
  readonly to: DType;
};

/** Converts the elements to another dtype, without a gradient. */
export const castOp = defineOp({
  name: 'cast',
  infer: ([x]: Unary, { to }: CastAttributes) => ({ dtype: to, shape: x.shape }),
});

/** The same numbers without a gradient. */
export const detachOp = defineOp({
  name: 'detach',
  infer: ([x]: Unary, _: None) => x,
});

/** The same numbers, marked to be saved for the backward pass: see `SaveList`. */
export const keepOp = defineOp({
  name: 'keep',
  infer: ([x]: Unary, _: None) => x,
  vjp: (_: Node<Unary, None>, dy: Value) => [dy],
});

/** a + b, with broadcasting; either one may be a number. */
export const add = two(addOp);
/** a − b, with broadcasting; either one may be a number. */
export const sub = two(subOp);
/** a · b elementwise, with broadcasting; either one may be a number. */
export const mul = two(mulOp);
/** a / b elementwise, with broadcasting; either one may be a number. */
export const div = two(divOp);
/** a^b elementwise; the exponent's gradient needs a > 0. */
export const pow = two(powOp);
/** The smaller of a and b, elementwise; where both are equal, each gets half of the gradient. */
export const min = two(minOp);
/** The larger of a and b, elementwise; where both are equal, each gets half of the gradient. */
export const max = two(maxOp);
/** Whether a = b, elementwise, as a bool tensor. */
export const equal = two(equalOp);
/** Whether a < b, elementwise, as a bool tensor. */
export const less = two(lessOp);
/** Whether a ≤ b, elementwise, as a bool tensor. */
export const lessEqual = two(lessEqualOp);
/** Whether a > b, elementwise, as a bool tensor. */
export const greater = two(greaterOp);
/** Whether a ≥ b, elementwise, as a bool tensor. */
export const greaterEqual = two(greaterEqualOp);
/** Returns x with the gradient stopped: nothing flows back through it. */
export const detach = one(detachOp);
/** Marks x as worth saving for the backward pass instead of recomputing it. */
export const keep = one(keepOp);
/** −x, elementwise. */
export const neg = one(negOp);
/** e^x, elementwise. */
export const exp = one(expOp);
/** Natural logarithm, elementwise. */
export const log = one(logOp);
/** √x, elementwise. */
export const sqrt = one(sqrtOp);
/** 1/√x, elementwise. */
export const rsqrt = one(rsqrtOp);
/** Hyperbolic tangent, elementwise. */
export const tanh = one(tanhOp);
/** σ(x) = 1/(1 + e^−x), elementwise. */
export const sigmoid = one(sigmoidOp);
/** Error function, elementwise. */
export const erf = one(erfOp);
/** |x|, elementwise; the gradient at 0 is 0. */
export const abs = one(absOp);
/** −1, 0 or 1 by the sign of x, elementwise, without a gradient. */
export const sign = one(signOp);
/** Limits x to [lowest, highest]; the gradient is zero outside the interval. */
export const clip = (x: Value, lowest: number, highest: number) =>
  apply(clipOp, [x], { min: lowest, max: highest });
/** a where the condition is true, else b; either one may be a number. */
export const where = (condition: Value, a: Operand, b: Operand): Value => {
  const dtype = typeof a === 'object' ? a.dtype : typeof b === 'object' ? b.dtype : 'float32';
  return apply(whereOp, [condition, toValue(a, dtype), toValue(b, dtype)], {});
};
/** Converts x to another dtype; returns x itself if it already has that dtype. */
export const cast = (x: Value, to: DType) => (x.dtype === to ? x : apply(castOp, [x], { to }));

/** Passes dy to the smaller of a and b, and half to each if they are equal. */
function shareByOrder(a: Value, b: Value, dy: Value): readonly [Value, Value] {
  const half = where(equal(a, b), mul(dy, 0.5), 0);
  return [where(less(a, b), dy, half), where(less(b, a), dy, half)];
}
