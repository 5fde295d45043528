import { headModules, scoreBiasName, scoreWeightName } from '../base-setup/lora/peft-config.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { randomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { scalarGraph } from './decoder/head-graph.ts';
import { RoleModel, type RoleOptions } from './role-model.ts';

/** The base and scalar head of a value or reward model. */
export interface ScalarModelOptions extends RoleOptions {
  /** Weight of the head, [1, hidden]. */
  readonly head: Tensor<'float32'>;
  /** Bias of the head, [1]; by default the head has none, as a sequence classifier of transformers. */
  readonly bias?: Tensor<'float32'> | undefined;
}

/** A role with one number per token. */
export class ScalarModel extends RoleModel {
  readonly head: Tensor<'float32'>;
  readonly bias: Tensor<'float32'> | undefined;

  constructor(options: ScalarModelOptions) {
    super(options);
    this.head = options.head;
    this.bias = options.bias;
  }

  /** The arrays that training changes besides the adapter. */
  headParameters(): NamedArrays {
    const { head, bias } = this;
    return { [scoreWeightName]: head.data, ...(bias && { [scoreBiasName]: bias.data }) };
  }

  /** The head's number at each hidden state: w·norm(x) + b. */
  async scores(hidden: Tensor<'float32'>): Promise<Float32Array> {
    const graph = await this.base.compile('scalar', () => scalarGraph(this.base.architecture));
    const feeds = await this.base.headFeeds(graph, { x: hidden, [scoreWeightName]: this.head });
    const { score } = await graph.run(feeds);
    const scores = score!.data as Float32Array;
    const bias = this.bias?.data[0] ?? 0;
    return bias === 0 ? scores : scores.map((x) => x + bias);
  }
}

/** Weight and bias of a scalar head. */
export type ScalarHead = Required<Pick<ScalarModelOptions, 'head'>> &
  Pick<ScalarModelOptions, 'bias'>;

/** The head of a saved adapter with one label, named `score` or `classifier`; undefined if the adapter
 *  has none.
 *  @param about.what what is loaded, for errors, such as `the reward model runs/reward` */
export function readScalarHead(
  tensors: ReadonlyMap<string, Tensor<'float32'>>,
  { what, hiddenSize }: { readonly what: string; readonly hiddenSize: number },
): ScalarHead | undefined {
  const find = (kind: 'weight' | 'bias') =>
    headModules.map((module) => tensors.get(`${module}.${kind}`)).find((one) => one !== undefined);
  const [head, bias] = [find('weight'), find('bias')];
  if (head === undefined) return undefined;
  const [labels, width] = head.shape;
  if (labels !== 1) {
    throw new RangeError(
      `Cannot load ${what}: its head must have one label, got ${labels}; train it with num_labels=1`,
    );
  }
  if (width !== hiddenSize) {
    throw new RangeError(
      `Cannot load ${what}: its head must have ${hiddenSize} weights like the base's hidden states, got ${width}; use the base that it was trained on`,
    );
  }
  return { head, bias };
}

/** An initial value head: every state has value 0. */
export function zeroHead(hiddenSize: number): Tensor<'float32'> {
  return tensor(new Float32Array(hiddenSize), [1, hiddenSize]);
}

/** An initial reward head, sampled from N(0, 1/(d + 1)) (arXiv:2009.01325). */
export function randomHead(hiddenSize: number, seed = 0): Tensor<'float32'> {
  const random = randomStream(seed, 'reward head');
  const std = 1 / Math.sqrt(hiddenSize + 1);
  const weight = Float32Array.from({ length: hiddenSize }, () => std * random.normal());
  return tensor(weight, [1, hiddenSize]);
}
