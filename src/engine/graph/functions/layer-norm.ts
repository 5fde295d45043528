import { add, mul, rsqrt, sub } from '../ops/elementwise.ts';
import { mean } from '../ops/reduce.ts';
import type { Value } from '../value.ts';

export interface LayerNormWeights {
  readonly weight: Value;
  readonly bias: Value;
  readonly epsilon: number;
}

/** LayerNorm (arXiv:1607.06450) over the last axis: w·(x − mean)/√(var + ε) + b, var biased. */
export function layerNorm(x: Value, { weight, bias, epsilon }: LayerNormWeights): Value {
  const centred = sub(x, mean(x, [-1]));
  const variance = mean(mul(centred, centred), [-1]);
  return add(mul(mul(centred, rsqrt(add(variance, epsilon))), weight), bias);
}
