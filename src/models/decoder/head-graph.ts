import { scoreWeightName } from '../../base-setup/lora/peft-config.ts';
import {
  div,
  type Graph,
  input,
  linear,
  makeGraph,
  reshape,
  tokenLogprobs,
  type Value,
} from '../../engine/graph/index.ts';
import { VOCABULARY_BLOCK } from './byte-weight.ts';
import type { Architecture } from './families/index.ts';
import type { WeightSource } from './module-context.ts';

/** Final norm and output head: hidden states x [M, hidden] to logits [M, V]. */
export function logitsGraph(architecture: Architecture, source: WeightSource): Graph {
  return makeGraph({ logits: logitsOf(architecture, hiddenRows(architecture), source) });
}

/** Logits [M, V] of hidden states before the final norm. */
export function logitsOf(
  { family, config }: Architecture,
  x: Value,
  { weight, product }: WeightSource,
): Value {
  const n = family.finalNorm({ config, weight }, x);
  const head = config.tie_word_embeddings ? family.names.embedding : family.names.head;
  return product(n, head, { out: config.vocab_size, blockSize: VOCABULARY_BLOCK });
}

/** Log-probabilities of given tokens and entropies, at a temperature: [M] each. */
export function logprobsGraph(architecture: Architecture): Graph {
  const logits = linear(scaledHidden(architecture), headWeight(architecture));
  return makeGraph({ ...tokenLogprobs(logits, input('tokens', ['M'], 'int32')) });
}

/** Hidden states x after the final norm, divided by `temperature`: cheaper than dividing the far
 *  wider logits. */
export function scaledHidden(architecture: Architecture, x = hiddenRows(architecture)): Value {
  return div(normed(architecture, x), input('temperature', []));
}

/** Final norm and a scalar head, for value and reward models: [M]. */
export function scalarGraph(architecture: Architecture): Graph {
  return makeGraph({ score: scalarOf(architecture, hiddenRows(architecture)) });
}

/** The scalar head's number at each hidden state, without a bias. */
export function scalarOf(architecture: Architecture, x: Value): Value {
  const weight = input(scoreWeightName, [1, architecture.config.hidden_size]);
  return reshape(linear(normed(architecture, x), weight), x.shape.slice(0, 1));
}

/** A head that may itself be trained is fed as `head.weight`: a tied model feeds its embedding. */
export function headWeight({ config }: Architecture): Value {
  return input('head.weight', [config.vocab_size, config.hidden_size]);
}

function hiddenRows({ config }: Architecture): Value {
  return input('x', ['M', config.hidden_size]);
}

function normed({ family, config }: Architecture, x: Value): Value {
  return family.finalNorm({ config, weight: (name, shape) => input(name, shape) }, x);
}
