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
import type { Architecture } from './families/index.ts';

/** Final norm and output head: hidden states x [M, hidden] to logits [M, V]. */
export function logitsGraph(architecture: Architecture): Graph {
  return makeGraph({ logits: logitsOf(architecture, hiddenRows(architecture)) });
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

/** The head's weight is fed as `head.weight`: a tied model feeds its embedding. */
function logitsOf(architecture: Architecture, x: Value): Value {
  return linear(normed(architecture, x), headWeight(architecture));
}

export function headWeight({ config }: Architecture): Value {
  return input('head.weight', [config.vocab_size, config.hidden_size]);
}

function hiddenRows({ config }: Architecture): Value {
  return input('x', ['M', config.hidden_size]);
}

function normed({ family, config }: Architecture, x: Value): Value {
  return family.finalNorm({ config, weight: (name, shape) => input(name, shape) }, x);
}
