import { exp, log, mul, neg, sub } from '../ops/elementwise.ts';
import { gatherLast } from '../ops/gather.ts';
import { reshape } from '../ops/layout.ts';
import { maxOf, sum } from '../ops/reduce.ts';
import type { Value } from '../value.ts';

export interface TokenLogprobs {
  /** log π(token): [M]. */
  readonly logprob: Value;
  /** Entropy of the whole distribution: [M]. */
  readonly entropy: Value;
}

/** log softmax over the last axis: x − max − log Σ e^(x − max). */
export function logSoftmax(x: Value): Value {
  const shifted = sub(x, maxOf(x, [-1]));
  return sub(shifted, log(sum(exp(shifted), [-1])));
}

/**
 * Log-probability of each row's token and entropy of its distribution, from logits [M, V].
 * With z = logits − max and Z = Σe^z:  log π = z_token − log Z;  H = log Z − Σ z·e^z / Z.
 */
export function tokenLogprobs(logits: Value, tokens: Value): TokenLogprobs {
  const z = sub(logits, maxOf(logits, [-1]));
  const e = exp(z);
  const partition = sum(e, [-1]);
  const logPartition = reshape(log(partition), tokens.shape);
  const weighted = reshape(sum(mul(z, e), [-1]), tokens.shape);
  const entropy = sub(logPartition, mul(weighted, exp(neg(logPartition))));
  return { logprob: sub(gatherLast(z, tokens), logPartition), entropy };
}
