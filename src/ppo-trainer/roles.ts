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

/** The class of a reward model that the trainer creates over its own base. */
export type RewardModelClass = new (options: RewardModelOptions) => RewardModel;

/** A new adapter, which changes nothing yet. Each role has its own random numbers. */
export function freshAdapter(config: PPOConfig, { base }: LoadedModel, role: string): LoraAdapter {
  return LoraAdapter.create(toLoraConfig(config), base.modules(), `${config.seed} ${role}`);
}

/** The given reward model, or an untrained one with a random head. */
export function createRewardModel(
  { base, tokenizer }: LoadedModel,
  { rewardModel, seed }: { rewardModel: RewardModel | RewardModelClass | undefined; seed: number },
): RewardModel {
  if (rewardModel instanceof RewardModel) return rewardModel;
  const head = randomHead(base.architecture.config.hidden_size, seed);
  return new (rewardModel ?? RewardModel)({ base, tokenizer, head });
}

/** The initial value model: a head of zeros, or a copy of the reward model. */
export function createValueModel(
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

/** A deep copy of an adapter. */
export function copyAdapter({ config, weights }: LoraAdapter): LoraAdapter {
  const copies = [...weights].map(([name, weight]) => [name, copyTensor(weight)] as const);
  return new LoraAdapter(config, new Map(copies));
}

function copyTensor({ data, shape }: Tensor<'float32'>): Tensor<'float32'> {
  return tensor(data.slice(), shape);
}
