import { exp, mul, neg } from '../ops/elementwise.ts';
import { logSoftmax } from '../ops/fused.ts';
import { gatherLast } from '../ops/gather.ts';
import { reshape } from '../ops/layout.ts';
import { sum } from '../ops/reduce.ts';
import type { Value } from '../value.ts';

export interface TokenLogprobs {
  /** log π(token): [M]. */
  readonly logprob: Value;
  /** Entropy of the whole distribution: [M]. */
  readonly entropy: Value;
}

/**
 * Log-probability of each row's token and entropy of its distribution, from logits [M, V].
 * With ℓ = log softmax(logits):  log π = ℓ_token;  H = −Σ e^ℓ·ℓ.
 */
export function tokenLogprobs(logits: Value, tokens: Value): TokenLogprobs {
  const l = logSoftmax(logits);
  const entropy = neg(sum(mul(exp(l), l), [-1]));
  return { logprob: gatherLast(l, tokens), entropy: reshape(entropy, tokens.shape) };
}
