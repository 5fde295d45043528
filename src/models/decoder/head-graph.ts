import {
  add,
  detach,
  div,
  exp,
  type Graph,
  gatherLast,
  gatherRows,
  grad,
  gradientName,
  input,
  linear,
  logSoftmax,
  makeGraph,
  matmul,
  mul,
  neg,
  reshape,
  sub,
  sum,
  tokenLogprobs,
  type Value,
} from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';

/** Final norm and output head: hidden states x [M, hidden] to logits [M, V]. */
export function logitsGraph(architecture: Architecture): Graph {
  return makeGraph({ logits: logitsOf(architecture, hiddenRows(architecture)) });
}

/** Log-probabilities of given tokens and entropies, at a temperature: [M] each. */
export function logprobsGraph(architecture: Architecture): Graph {
  const { logits, tokens } = scaledHead(architecture);
  return makeGraph({ ...tokenLogprobs(logits, tokens) });
}

/**
 * The same with the gradient of each row's numbers by its own hidden state x. With n = norm(x)/T,
 * logits = n·Wᵀ, ℓ = log softmax(logits), p = e^ℓ:  ∂log π/∂n = W_token − p·W;
 * ∂H/∂n = −(p·(ℓ + H))·W. No other array of the vocabulary's width is made.
 */
export function policyHeadGraph(
  architecture: Architecture,
  { withEntropy }: { readonly withEntropy: boolean },
): Graph {
  const { n, W, logits, tokens } = scaledHead(architecture);
  const l = logSoftmax(logits);
  const p = exp(l);
  const H = neg(sum(mul(p, l), [-1]));
  const byNorm = (d: Value) =>
    grad(makeGraph({ s: sum(mul(n, detach(d)), [0, 1]) }), { of: ['s'], wrt: ['x'] }).joint.outputs[
      gradientName('x')
    ]!;
  return makeGraph({
    logprob: gatherLast(l, tokens),
    entropy: reshape(H, ['M']),
    byLogprob: byNorm(sub(gatherRows(W, tokens), matmul(p, W))),
    ...(withEntropy && { byEntropy: byNorm(neg(matmul(mul(p, add(l, H)), W))) }),
  });
}

/** Logits at a temperature, which divides the rows before the product: they are far narrower. */
function scaledHead(architecture: Architecture) {
  const n = div(normed(architecture, hiddenRows(architecture)), input('temperature', []));
  const W = headWeight(architecture);
  return { n, W, logits: linear(n, W), tokens: input('tokens', ['M'], 'int32') };
}

/** Final norm and a scalar head, as value and reward models have it: [M]. */
export function scalarGraph(architecture: Architecture): Graph {
  const { hidden_size } = architecture.config;
  const x = normed(architecture, hiddenRows(architecture));
  const score = linear(x, input('score.weight', [1, hidden_size]));
  return makeGraph({ score: reshape(score, ['M']) });
}

/** The head's weight is fed as `head.weight`: a tied model feeds its embedding. */
function logitsOf(architecture: Architecture, x: Value): Value {
  return linear(normed(architecture, x), headWeight(architecture));
}

function headWeight({ config }: Architecture): Value {
  return input('head.weight', [config.vocab_size, config.hidden_size]);
}

function hiddenRows({ config }: Architecture): Value {
  return input('x', ['M', config.hidden_size]);
}

function normed({ family, config }: Architecture, x: Value): Value {
  return family.finalNorm({ config, weight: (name, shape) => input(name, shape) }, x);
}
