import { add, erf, mul, tanh } from '../ops/elementwise.ts';
import type { Value } from '../value.ts';

/** GELU (arXiv:1606.08415), exact: ½·x·(1 + erf(x/√2)). */
export function gelu(x: Value): Value {
  return mul(mul(x, 0.5), add(erf(mul(x, Math.SQRT1_2)), 1));
}

/** GELU by tanh, as GPT-2 has it: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))). */
export function geluTanh(x: Value): Value {
  const cubic = mul(mul(mul(x, x), x), 0.044715);
  const inner = mul(add(x, cubic), Math.sqrt(2 / Math.PI));
  return mul(mul(x, 0.5), add(tanh(inner), 1));
}

/** Dropout with the mask as a feed: 0 where an element is dropped, 1/(1 − p) where it is kept. */
export function dropout(x: Value, mask: Value): Value {
  return mul(x, mask);
}
