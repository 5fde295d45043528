import { grad, gradientName } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { logprobsGraph } from '../models/decoder/head-graph.ts';
import type { BaseModel } from '../models/index.ts';

/** Hidden states, the token that follows each, and what its loss counts. */
export interface LanguageRows {
  readonly hidden: Tensor<'float32'>;
  readonly tokens: Int32Array;
  readonly weights: Float32Array;
}

export interface LanguageHeadOptions {
  /** Gets the gradients of norm and head where these are trained too. */
  readonly take?: ((gradients: NamedArrays) => void) | undefined;
}

/** L = −Σ_m w_m log π(token_m) through the output head, in chunks, with ∂L/∂x [M, hidden]. */
export async function runLanguageHead(
  base: BaseModel,
  { hidden, tokens, weights }: LanguageRows,
  { take }: LanguageHeadOptions = {},
): Promise<{ loss: number; dHidden: Tensor<'float32'> }> {
  const graph = logprobsGraph(base.architecture);
  const trained = take === undefined ? [] : trainedInputs(graph.inputs);
  const head = await base.compile(
    `language head ${trained.join(' ')}`,
    () => grad(graph, { of: ['logprob'], wrt: ['x', ...trained] }).joint,
  );
  const width = base.architecture.config.hidden_size;
  const dHidden = new Float32Array(tokens.length * width);
  let loss = 0;
  const chunk = base.headRowsAtOnce(tokens.length);
  for (let start = 0; start < tokens.length; start += chunk) {
    const end = Math.min(start + chunk, tokens.length);
    const given = {
      x: tensor(hidden.data.subarray(start * width, end * width), [end - start, width]),
      tokens: tensor(tokens.subarray(start, end), [end - start]),
      temperature: tensor(Float32Array.of(1), []),
      [gradientName('logprob')]: tensor(
        weights.subarray(start, end).map((w) => -w),
        [end - start],
      ),
    };
    const outputs = await head.run(base.headFeeds(head, given));
    const logprobs = outputs.logprob!.data as Float32Array;
    for (let m = start; m < end; m++) loss -= weights[m]! * logprobs[m - start]!;
    dHidden.set(outputs[gradientName('x')]!.data as Float32Array, start * width);
    for (const name of trained) {
      const gradient = outputs[gradientName(name)]!.data as Float32Array;
      take?.({ [name === 'head.weight' ? base.headName : name]: gradient });
    }
  }
  return { loss, dHidden: tensor(dHidden, [tokens.length, width]) };
}

/** The head's weights: all its inputs but the batch's. */
function trainedInputs(inputs: object): string[] {
  return Object.keys(inputs).filter((name) => !['x', 'tokens', 'temperature'].includes(name));
}
