import { grad, gradientName } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { logprobsGraph } from '../models/decoder/head-graph.ts';
import { evenParts } from '../models/decoder/token-head.ts';
import type { BaseModel } from '../models/index.ts';
import { runPolicyHead } from './policy-head.ts';

/** Logits of a trained head that are held at once; its gradient is as large as its weight. */
export const TRAINED_LOGITS_AT_ONCE = 2 ** 24;

/** Hidden states, the token that follows each, and what its loss counts. */
export interface LanguageRows {
  readonly hidden: Tensor<'float32'>;
  readonly tokens: Int32Array;
  readonly weights: Float32Array;
}

/** L = −Σ_m w_m log π(token_m) and ∂L/∂x [M, hidden]. */
export interface HeadLoss {
  readonly loss: number;
  readonly dHidden: Tensor<'float32'>;
}

/** The loss through an output head that stays as it is. */
export async function runLanguageHead(
  base: BaseModel,
  { hidden, tokens, weights }: LanguageRows,
): Promise<HeadLoss> {
  const options = { temperature: 1, withEntropy: false };
  const head = await runPolicyHead(base, { hidden, tokens }, options);
  const dLogprobs = weights.map((w) => -w);
  return { loss: dot(dLogprobs, head.logprobs), dHidden: head.pullBack(dLogprobs) };
}

/** The loss through an output head that is trained too, some rows at a time; `take` gets the gradients
 *  of norm and head. */
export async function trainLanguageHead(
  base: BaseModel,
  { hidden, tokens, weights }: LanguageRows,
  take: (gradients: NamedArrays) => void,
): Promise<HeadLoss> {
  const graph = logprobsGraph(base.architecture);
  const trained = trainedInputs(graph.inputs);
  const head = await base.compile(
    'language head',
    () => grad(graph, { of: ['logprob'], wrt: ['x', ...trained] }).joint,
  );
  const { hidden_size: width, vocab_size } = base.architecture.config;
  const dHidden = new Float32Array(tokens.length * width);
  let loss = 0;
  const most = Math.max(1, Math.floor(TRAINED_LOGITS_AT_ONCE / vocab_size));
  for (const [start, end] of evenParts(tokens.length, most)) {
    const dLogprobs = weights.subarray(start, end).map((w) => -w);
    const given = {
      x: tensor(hidden.data.subarray(start * width, end * width), [end - start, width]),
      tokens: tensor(tokens.subarray(start, end), [end - start]),
      temperature: tensor(Float32Array.of(1), []),
      [gradientName('logprob')]: tensor(dLogprobs, [end - start]),
    };
    const outputs = await head.run(base.headFeeds(head, given));
    loss += dot(dLogprobs, outputs.logprob!.data as Float32Array);
    dHidden.set(outputs[gradientName('x')]!.data as Float32Array, start * width);
    for (const name of trained) {
      const gradient = outputs[gradientName(name)]!.data as Float32Array;
      take({ [name === 'head.weight' ? base.headName : name]: gradient });
    }
  }
  return { loss, dHidden: tensor(dHidden, [tokens.length, width]) };
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, number, i) => sum + number * b[i]!, 0);
}

/** The head's weights: all its inputs but the batch's. */
function trainedInputs(inputs: object): string[] {
  return Object.keys(inputs).filter((name) => !['x', 'tokens', 'temperature'].includes(name));
}
