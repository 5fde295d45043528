import { type Dim, dimMul } from './dim.ts';
import { add, erf, exp, mul, neg, rsqrt, sub, tanh } from './ops/elementwise.ts';
import { logSoftmax, softmax } from './ops/fused.ts';
import { gatherLast } from './ops/gather.ts';
import { reshape } from './ops/layout.ts';
import { matmul } from './ops/matmul.ts';
import { mean, sum } from './ops/reduce.ts';
import { typeError, type Value } from './value.ts';

/** GELU (arXiv:1606.08415), exact: ½·x·(1 + erf(x/√2)). */
export function gelu(x: Value): Value {
  return mul(mul(x, 0.5), add(erf(mul(x, Math.SQRT1_2)), 1));
}

/** GELU's tanh approximation, as in GPT-2: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))). */
export function geluTanh(x: Value): Value {
  const cubic = mul(mul(mul(x, x), x), 0.044715);
  const inner = mul(add(x, cubic), Math.sqrt(2 / Math.PI));
  return mul(mul(x, 0.5), add(tanh(inner), 1));
}

/** Dropout with the mask as a feed: 0 for a dropped element, 1/(1 − p) for the others. */
export function dropout(x: Value, mask: Value): Value {
  return mul(x, mask);
}

/** The weight, bias and ε of a LayerNorm. */
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

/** y = x·Wᵀ, with Hugging Face's weight layout [out, in]. */
export function linear(x: Value, weight: Value): Value {
  return matmul(x, weight, { transB: true });
}

/** The LoRA adapter of a linear module: A is [r, in], B is [out, r], scaling is alpha / r. */
export interface LoraWeights {
  readonly a: Value;
  readonly b: Value;
  readonly scaling: number;
}

/** What a LoRA adapter (arXiv:2106.09685) adds to the output of its module: scaling · (x·Aᵀ)·Bᵀ. */
export function loraDelta(x: Value, { a, b, scaling }: LoraWeights): Value {
  return matmul(linear(x, a), b, { transB: true, alpha: scaling });
}

/** The tensors that `attention` reads. */
export interface AttentionInputs {
  /** [B, heads, T, D] */
  readonly q: Value;
  /** [B, kvHeads, S, D]; each serves heads / kvHeads query heads. */
  readonly k: Value;
  readonly v: Value;
  /** Added to the scores: 0 where a query may attend, a large negative number elsewhere. */
  readonly bias: Value;
}

/** Grouped-query attention (arXiv:2305.13245): softmax(q·kᵀ/√D + bias)·v, as [B, heads, T, D].
 *  The query heads of a group are stacked, so each group is one product. */
export function attention({ q, k, v, bias }: AttentionInputs): Value {
  const [batch, heads, queries, size] = q.shape as [Dim, number, Dim, number];
  const [, kvHeads, keys] = k.shape as [Dim, number, Dim];
  const group = heads / kvHeads;
  if (!Number.isInteger(group)) {
    throw typeError('attention', 'heads of q must be a multiple of those of k and v', [q, k, v]);
  }
  const grouped = reshape(q, [batch, kvHeads, dimMul(group, queries), size]);
  const scores = matmul(grouped, k, { transB: true, alpha: 1 / Math.sqrt(size) });
  const weights = softmax(add(reshape(scores, [batch, heads, queries, keys]), bias));
  const stacked = reshape(weights, [batch, kvHeads, dimMul(group, queries), keys]);
  return reshape(matmul(stacked, v), q.shape);
}

/** What `tokenLogprobs` computes for each row. */
export interface TokenLogprobs {
  /** log π(token): [M]. */
  readonly logprob: Value;
  /** Entropy of the whole distribution: [M]. */
  readonly entropy: Value;
}

/** Log-probability of each row's token and entropy of its distribution, from logits [M, V].
 *  With ℓ = log softmax(logits):  log π = ℓ_token;  H = −Σ e^ℓ·ℓ. */
export function tokenLogprobs(logits: Value, tokens: Value): TokenLogprobs {
  const l = logSoftmax(logits);
  const entropy = neg(sum(mul(exp(l), l), [-1]));
  return { logprob: gatherLast(l, tokens), entropy: reshape(entropy, tokens.shape) };
}
