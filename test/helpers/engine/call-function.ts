import type { Dim, Shape } from '../../../src/engine/graph/dim.ts';
import {
  attention,
  dropout,
  gelu,
  geluTanh,
  type LoraWeights,
  layerNorm,
  linear,
  loraDelta,
  tokenLogprobs,
} from '../../../src/engine/graph/functions.ts';
import { add } from '../../../src/engine/graph/ops/elementwise.ts';
import { split } from '../../../src/engine/graph/ops/layout.ts';
import { mean, sumTo } from '../../../src/engine/graph/ops/reduce.ts';
import type { Value } from '../../../src/engine/graph/value.ts';
import { type Call, type Named, unary } from './call-op.ts';

/** A linear module with an adapter, composed as the models do: y = x·Wᵀ + scaling · (x·Aᵀ)·Bᵀ. */
export function loraLinear(x: Value, weight: Value, lora: LoraWeights): Value {
  return add(linear(x, weight), loraDelta(x, lora));
}

/** Every function that is composed of ops, and `loraLinear`. */
export const callFunction = {
  gelu: unary(gelu),
  geluTanh: unary(geluTanh),
  dropout: ({ x, mask }: Named<'x' | 'mask'>) => dropout(x, mask),
  attention: (inputs: Named<'q' | 'k' | 'v' | 'bias'>) => attention(inputs),
  layerNorm: (
    { x, weight, bias }: Named<'x' | 'weight' | 'bias'>,
    { epsilon }: { epsilon: number },
  ) => layerNorm(x, { weight, bias, epsilon }),
  tokenLogprobs: ({ logits, tokens }: Named<'logits' | 'tokens'>) => ({
    ...tokenLogprobs(logits, tokens),
  }),
  linear: ({ x, weight }: Named<'x' | 'weight'>) => linear(x, weight),
  loraLinear: (
    { x, weight, a, b }: Named<'x' | 'weight' | 'a' | 'b'>,
    { scaling }: { scaling: number },
  ) => loraLinear(x, weight, { a, b, scaling }),
  loraDelta: ({ x, a, b }: Named<'x' | 'a' | 'b'>, { scaling }: { scaling: number }) =>
    loraDelta(x, { a, b, scaling }),
  mean: ({ x }: Named<'x'>, { axes }: { axes?: readonly number[] }) => mean(x, axes),
  split: ({ x }: Named<'x'>, { sizes, axis }: { sizes: readonly Dim[]; axis: number }) =>
    Object.fromEntries(split(x, sizes, axis).map((piece, i) => [`y${i}`, piece])),
  sumTo: ({ x }: Named<'x'>, { shape }: { shape: Shape }) => sumTo(x, shape),
} as const satisfies Readonly<Record<string, Call>>;

export type FunctionName = keyof typeof callFunction;
