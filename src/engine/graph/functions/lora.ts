import { add } from '../ops/elementwise.ts';
import { matmul } from '../ops/matmul.ts';
import type { Value } from '../value.ts';

/** A LoRA adapter of one linear layer: A is [r, in], B is [out, r], scaling is alpha / r. */
export interface LoraWeights {
  readonly a: Value;
  readonly b: Value;
  readonly scaling: number;
}

/** y = x·Wᵀ, with Hugging Face's weight layout [out, in]. */
export function linear(x: Value, weight: Value): Value {
  return matmul(x, weight, { transB: true });
}

/** LoRA (arXiv:2106.09685): y = x·Wᵀ + scaling · (x·Aᵀ)·Bᵀ. */
export function loraLinear(x: Value, weight: Value, lora: LoraWeights | undefined): Value {
  const y = linear(x, weight);
  return lora === undefined ? y : add(y, loraDelta(x, lora));
}

/** What an adapter adds to its layer's output: scaling · (x·Aᵀ)·Bᵀ. */
export function loraDelta(x: Value, { a, b, scaling }: LoraWeights): Value {
  return matmul(linear(x, a), b, { transB: true, alpha: scaling });
}
