import {
  add,
  type ByteFormat,
  byteProduct,
  detach,
  div,
  exp,
  type Graph,
  grad,
  gradientName,
  input,
  linear,
  log,
  makeGraph,
  matmul,
  max,
  maxOf,
  min,
  mul,
  reshape,
  sub,
  sum,
  type Value,
} from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import { scaledHidden } from './head-graph.ts';

/** Which gradients with respect to the hidden states are computed. */
export type TokenGradients = 'none' | 'logprob' | 'logprob and entropy';

/**
 * Sums over the tokens j of the vocabulary so far, with logits l_j and weights W_j:
 * m = max l_j;  s = Σ e^(l_j − m);  v = Σ e^(l_j − m)·(l_j − m);  P = Σ e^(l_j − m)·W_j;
 * Q = Σ e^(l_j − m)·(l_j − m)·W_j
 */
type VocabularySums = Readonly<Record<'m' | 's' | 'v', Value>> &
  Partial<Readonly<Record<'P' | 'Q', Value>>>;

/** Widths of the sums that are needed, by name. */
export function sumWidths(
  { config: { hidden_size } }: Architecture,
  gradients: TokenGradients,
): Readonly<Record<string, number>> {
  return {
    ...{ m: 1, s: 1, v: 1 },
    ...(gradients !== 'none' && { P: hidden_size }),
    ...(gradients === 'logprob and entropy' && { Q: hidden_size }),
  };
}

/**
 * Adds a part of the vocabulary to the sums: its weights [V, hidden] are fed as `part` or, in bytes,
 * [hidden, V] as `part` and their scales as `part.scales`. If the maximum grows from m to m′ by −δ, the earlier sums are rescaled to the new maximum:
 * s′ = e^δ·s + …;  v′ = e^δ·(v + δ·s) + …, and P and Q in the same way.
 */
export function vocabularyPartGraph(
  architecture: Architecture,
  { gradients, bytes }: { readonly gradients: TokenGradients; readonly bytes?: ByteFormat },
): Graph {
  const part = bytes === undefined ? floatPart(architecture) : bytePart(architecture, bytes);
  const l = part.logits(scaledHidden(architecture));
  const { m, s, v, P, Q } = inputSums(architecture, gradients);
  const newM = max(m, maxOf(l, [-1]));
  const delta = sub(m, newM);
  const shrink = exp(delta);
  const d = sub(l, newM);
  const e = exp(d);
  const moved = (firstOrder: Value, zerothOrder: Value) =>
    mul(shrink, add(firstOrder, mul(delta, zerothOrder)));
  return makeGraph({
    m: newM,
    s: add(mul(shrink, s), sum(e, [-1])),
    v: add(moved(v, s), sum(mul(e, d), [-1])),
    ...(P && { P: add(mul(shrink, P), part.mix(e)) }),
    ...(P && Q && { Q: add(moved(Q, P), part.mix(mul(e, d))) }),
  });
}

/** The products with the weights W [V, hidden] of a part of the vocabulary. */
interface VocabularyPart {
  /** x·Wᵀ */
  logits(x: Value): Value;
  /** e·W: a sum of weights for each row. */
  mix(e: Value): Value;
}

function floatPart({ config }: Architecture): VocabularyPart {
  const W = input('part', ['V', config.hidden_size]);
  return { logits: (x) => linear(x, W), mix: (e) => matmul(e, W) };
}

function bytePart({ config }: Architecture, format: ByteFormat): VocabularyPart {
  const weight = input('part', [config.hidden_size, 'V'], 'int8');
  const scales = input('part.scales', ['V']);
  return {
    logits: (x) => byteProduct(x, { weight, scales }, format),
    mix: (e) => byteProduct(mul(e, scales), { weight, transposed: true }, format),
  };
}

/**
 * Log-probabilities and entropies [M] from the sums over the whole vocabulary and the head's weights of the
 * tokens, which are fed as `token.weight`: log π = l_token − m − log s and H = log s − v/s, with gradients with respect to x [M, hidden]: ∂log π/∂n = W_token − P/s and
 * ∂H/∂n = (log s − H)·P/s − Q/s, where n = norm(x)/T.
 */
export function vocabularyEndGraph(
  architecture: Architecture,
  { gradients }: { readonly gradients: TokenGradients },
): Graph {
  const n = scaledHidden(architecture);
  const W = input('token.weight', ['M', architecture.config.hidden_size]);
  const { m, s, v, P, Q } = inputSums(architecture, gradients);
  // A different order of summation than in m may round to slightly more.
  const d = min(sub(sum(mul(n, W), [-1]), m), 0);
  const logS = log(s);
  const H = sub(logS, div(v, s));
  return makeGraph({
    logprob: reshape(sub(d, logS), ['M']),
    entropy: reshape(H, ['M']),
    ...(P && { byLogprob: throughNorm(n, sub(W, div(P, s))) }),
    ...(P && Q && { byEntropy: throughNorm(n, div(sub(mul(sub(logS, H), P), Q), s)) }),
  });
}

/** Turns a gradient d with respect to n into one with respect to x. */
function throughNorm(n: Value, d: Value): Value {
  const graph = makeGraph({ y: sum(mul(n, detach(d)), [0, 1]) });
  return grad(graph, { of: ['y'], wrt: ['x'] }).joint.outputs[gradientName('x')]!;
}

function inputSums(architecture: Architecture, gradients: TokenGradients): VocabularySums {
  const widths = Object.entries(sumWidths(architecture, gradients));
  const inputs = widths.map(([name, width]) => [name, input(name, ['M', width])]);
  return Object.fromEntries(inputs) as VocabularySums;
}
