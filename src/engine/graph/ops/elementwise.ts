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

export const addOp = binaryOp('add', (_, dy) => [dy, dy]);
export const subOp = binaryOp('sub', (_, dy) => [dy, neg(dy)]);
export const mulOp = binaryOp('mul', ({ inputs: [a, b] }, dy) => [mul(dy, b), mul(dy, a)]);
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
export const maxOp = binaryOp('max', ({ inputs: [a, b] }, dy) => shareByOrder(b, a, dy));

export const equalOp = comparisonOp('equal');
export const lessOp = comparisonOp('less');
export const lessEqualOp = comparisonOp('lessEqual');
export const greaterOp = comparisonOp('greater');
export const greaterEqualOp = comparisonOp('greaterEqual');

export const negOp = unaryOp('neg', (_, dy) => neg(dy));
export const expOp = unaryOp('exp', ({ output }, dy) => mul(dy, output));
export const logOp = unaryOp('log', ({ inputs: [x] }, dy) => div(dy, x));
export const sqrtOp = unaryOp('sqrt', ({ output }, dy) => div(mul(dy, 0.5), output));
export const rsqrtOp = unaryOp('rsqrt', ({ inputs: [x], output }, dy) =>
  mul(dy, div(mul(output, -0.5), x)),
);
export const tanhOp = unaryOp('tanh', ({ output }, dy) => mul(dy, sub(1, mul(output, output))));
export const sigmoidOp = unaryOp('sigmoid', ({ output }, dy) =>
  mul(dy, mul(output, sub(1, output))),
);
export const erfOp = unaryOp('erf', ({ inputs: [x] }, dy) =>
  mul(dy, mul(exp(neg(mul(x, x))), 2 / Math.sqrt(Math.PI))),
);
export const absOp = unaryOp('abs', ({ inputs: [x] }, dy) => mul(dy, sign(x)));
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

export const add = two(addOp);
export const sub = two(subOp);
export const mul = two(mulOp);
export const div = two(divOp);
export const pow = two(powOp);
export const min = two(minOp);
export const max = two(maxOp);
export const equal = two(equalOp);
export const less = two(lessOp);
export const lessEqual = two(lessEqualOp);
export const greater = two(greaterOp);
export const greaterEqual = two(greaterEqualOp);
export const detach = one(detachOp);
export const keep = one(keepOp);
export const neg = one(negOp);
export const exp = one(expOp);
export const log = one(logOp);
export const sqrt = one(sqrtOp);
export const rsqrt = one(rsqrtOp);
export const tanh = one(tanhOp);
export const sigmoid = one(sigmoidOp);
export const erf = one(erfOp);
export const abs = one(absOp);
export const sign = one(signOp);
export const clip = (x: Value, lowest: number, highest: number) =>
  apply(clipOp, [x], { min: lowest, max: highest });
export const where = (condition: Value, a: Operand, b: Operand): Value => {
  const dtype = typeof a === 'object' ? a.dtype : typeof b === 'object' ? b.dtype : 'float32';
  return apply(whereOp, [condition, toValue(a, dtype), toValue(b, dtype)], {});
};
export const cast = (x: Value, to: DType) => (x.dtype === to ? x : apply(castOp, [x], { to }));

/** Passes dy to the smaller of a and b, and half to each if they are equal. */
function shareByOrder(a: Value, b: Value, dy: Value): readonly [Value, Value] {
  const half = where(equal(a, b), mul(dy, 0.5), 0);
  return [where(less(a, b), dy, half), where(less(b, a), dy, half)];
}
