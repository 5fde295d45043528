import type { Dim, Shape } from '../../../src/engine/graph/dim.ts';
import * as activations from '../../../src/engine/graph/functions/activations.ts';
import { attention } from '../../../src/engine/graph/functions/attention.ts';
import { layerNorm } from '../../../src/engine/graph/functions/layer-norm.ts';
import { tokenLogprobs } from '../../../src/engine/graph/functions/logprobs.ts';
import { linear, loraDelta, loraLinear } from '../../../src/engine/graph/functions/lora.ts';
import { split } from '../../../src/engine/graph/ops/layout.ts';
import { mean, sumTo } from '../../../src/engine/graph/ops/reduce.ts';
import { type Call, type Named, unary } from './call-op.ts';

/** Every function that is made of ops. */
export const callFunction = {
  gelu: unary(activations.gelu),
  geluTanh: unary(activations.geluTanh),
  dropout: ({ x, mask }: Named<'x' | 'mask'>) => activations.dropout(x, mask),
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
