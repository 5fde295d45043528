import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import {
  type LoadedModel,
  RewardModel,
  type RewardModelOptions,
  randomHead,
  ValueModel,
  zeroHead,
} from '../models/index.ts';

/** A reward model over the trainer's own base, given as its class. */
export type RewardModelClass = new (options: RewardModelOptions) => RewardModel;

/** An adapter of the config's shape that changes nothing yet. Each role has random numbers of its own. */
export function freshAdapter(config: PPOConfig, { base }: LoadedModel, role: string): LoraAdapter {
  return LoraAdapter.create(toLoraConfig(config), base.modules(), `${config.seed} ${role}`);
}

/** The reward model that was given; one with a random head where nothing else gives rewards. */
export function makeRewardModel(
  { base, tokenizer }: LoadedModel,
  { given, seed }: { given: RewardModel | RewardModelClass | undefined; seed: number },
): RewardModel {
  if (given instanceof RewardModel) return given;
  const head = randomHead(base.architecture.config.hidden_size, seed);
  return new (given ?? RewardModel)({ base, tokenizer, head });
}

/** The value model as the config starts it: a head of zeros, or a copy of the reward model. */
export function makeValue(
  config: PPOConfig,
  model: LoadedModel,
  rewardModel: RewardModel | undefined,
): ValueModel | undefined {
  if (config.advantageEstimator !== 'gae') return undefined;
  const { base } = model;
  if (config.valueInit === 'zero') {
    const head = zeroHead(base.architecture.config.hidden_size);
    return new ValueModel({ base, head, adapter: freshAdapter(config, model, 'value') });
  }
  if (rewardModel === undefined || rewardModel.base !== base) {
    throw new Error(
      `Cannot start the value model: valueInit "reward" needs a reward model over the same base, got ${rewardModel === undefined ? 'none' : 'one over another'}; use "zero" or pass rewardModel`,
    );
  }
  const adapter = rewardModel.adapter && copyAdapter(rewardModel.adapter);
  return new ValueModel({
    base,
    head: copyTensor(rewardModel.head),
    adapter: adapter ?? freshAdapter(config, model, 'value'),
  });
}

/** An adapter with arrays of its own. */
export function copyAdapter({ config, weights }: LoraAdapter): LoraAdapter {
  const copies = [...weights].map(([name, weight]) => [name, copyTensor(weight)] as const);
  return new LoraAdapter(config, new Map(copies));
}

function copyTensor({ data, shape }: Tensor<'float32'>): Tensor<'float32'> {
  return tensor(data.slice(), shape);
}
