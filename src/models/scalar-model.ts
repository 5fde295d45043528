import { scoreWeightName } from '../base-setup/lora/peft-config.ts';
import { randomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { scalarGraph } from './decoder/head-graph.ts';
import { RoleModel, type RoleOptions } from './role-model.ts';

/** The base and scalar head of a value or reward model. */
export interface ScalarModelOptions extends RoleOptions {
  /** Weight of the head, [1, hidden]. */
  readonly head: Tensor<'float32'>;
}

/** A role with one number per token. */
export class ScalarModel extends RoleModel {
  readonly head: Tensor<'float32'>;

  constructor(options: ScalarModelOptions) {
    super(options);
    this.head = options.head;
  }

  /** The head's number at each hidden state. */
  async scores(hidden: Tensor<'float32'>): Promise<Float32Array> {
    const graph = await this.base.compile('scalar', () => scalarGraph(this.base.architecture));
    const feeds = this.base.headFeeds(graph, { x: hidden, [scoreWeightName]: this.head });
    const { score } = await graph.run(feeds);
    return score!.data as Float32Array;
  }
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
