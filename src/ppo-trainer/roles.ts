import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import type { WriteAdapterOptions } from '../base-setup/lora/peft-writer.ts';
import { type PPOConfig, valueLoraFields } from '../config/ppo-config.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { transposedModules } from '../models/decoder/weight-shapes.ts';
import type { LoadedModel, RewardModelClass } from '../models/index.ts';
import { RewardModel } from '../models/reward-model.ts';
import { randomHead, zeroHead } from '../models/scalar-model.ts';
import { ValueModel } from '../models/value-model.ts';

/** A new adapter, which changes nothing yet. Each role has its own random numbers. */
export function freshAdapter(
  config: PPOConfig,
  { base }: LoadedModel,
  role: 'policy' | 'value',
): LoraAdapter {
  const fields = role === 'value' ? valueLoraFields(config) : config;
  const lora = toLoraConfig(fields, base.architecture.config);
  return LoraAdapter.create(lora, base.modules(), `${config.seed} ${role}`);
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

/** Warns that a class is created with a random head.
 *  @param startsValue whether the value model is a copy of it
 *  @param remedy how to get a trained head instead */
export function describeRandomHead(
  { name }: RewardModelClass,
  { startsValue, remedy }: { readonly startsValue: boolean; readonly remedy: string },
): string {
  const start = startsValue ? ', and the value model starts from this head' : '';
  return `The reward model ${name} is a class, so it is created with an untrained random head: what super.forward() returns means nothing${start}; ${remedy} with a trained head unless the class computes its own scores`;
}

/** The initial value model: a head of zeros, or a copy of the reward model with its normalisation. */
export function createValueModel(
  config: PPOConfig,
  model: LoadedModel,
  rewardModel: RewardModel | undefined,
): ValueModel | undefined {
  if (config.advantageEstimator !== 'gae') return undefined;
  const { base } = model;
  if (config.valueInit === 'zero') {
    const head = zeroHead(base.architecture.config.hidden_size);
    const bias = tensor(new Float32Array(1), [1]);
    return new ValueModel({ base, head, bias, adapter: freshAdapter(config, model, 'value') });
  }
  if (rewardModel === undefined || rewardModel.base !== base) {
    throw new Error(
      `Cannot start the value model: valueInit "reward" needs a reward model over the same base, got ${rewardModel === undefined ? 'none' : 'one over another'}; use "zero" or pass rewardModel`,
    );
  }
  const adapter = rewardModel.adapter && copyAdapter(rewardModel.adapter);
  return new ValueModel({
    base,
    ...normalizedHead(rewardModel),
    adapter: adapter ?? freshAdapter(config, model, 'value'),
  });
}

/** The head whose numbers are the reward model's normalised scores, which are what values predict.
 *  (w·x + b − μ)/σ = (w/σ)·x + (b − μ)/σ
 *  @example w=[2, 4], no bias, μ=3, σ=2  →  [1, 2], bias −1½ */
function normalizedHead({ head, bias, normalization: { mean, std } }: RewardModel) {
  return {
    head: tensor(
      head.data.map((weight) => weight / std),
      head.shape,
    ),
    bias: tensor(Float32Array.of(((bias?.data[0] ?? 0) - mean) / std), [1]),
  };
}

/** A deep copy of an adapter. */
export function copyAdapter({ config, weights }: LoraAdapter): LoraAdapter {
  const copies = [...weights].map(([name, weight]) => [name, copyTensor(weight)] as const);
  return new LoraAdapter(config, new Map(copies));
}

function copyTensor({ data, shape }: Tensor<'float32'>): Tensor<'float32'> {
  return tensor(data.slice(), shape);
}

/** What an adapter's config says about its base. */
export function describeBase(model: LoadedModel): WriteAdapterOptions {
  return {
    baseModelNameOrPath: model.name ?? model.folder,
    fanInFanOut: transposedModules(model.base.architecture).size > 0,
  };
}

/** Requires that an adapter fits the config of a run.
 *  @param folder what errors call it */
export function expectSameShapes(own: LoraAdapter, saved: LoraAdapter, folder: string): void {
  const shapes = ({ config, weights }: LoraAdapter) =>
    JSON.stringify([
      config.lora_alpha,
      [...weights].map(([name, { shape }]) => [name, shape]).sort(),
    ]);
  if (shapes(own) === shapes(saved)) return;
  throw new Error(
    `Cannot load the adapter of ${folder}: it must have the rank, alpha and modules of the config (rank ${own.config.r}, alpha ${own.config.lora_alpha}, ${own.modules().length} modules), got rank ${saved.config.r}, alpha ${saved.config.lora_alpha}, ${saved.modules().length} modules; set loraR, loraAlpha, loraTargets and loraLayers to those`,
  );
}

/** Copies an adapter into the arrays of another, which optimisers and sessions share. */
export function restoreWeights(from: LoraAdapter, to: LoraAdapter): void {
  for (const [name, tensor] of to.weights) restoreTensor(from.weights.get(name), tensor, name);
}

/** Copies the numbers of a tensor of the same size. */
export function restoreTensor(
  from: Tensor<'float32'> | undefined,
  to: Tensor<'float32'>,
  name: string,
): void {
  if (from?.data.length !== to.data.length) {
    throw new Error(
      `Cannot load ${name}: it must have ${to.data.length} numbers, got ${from?.data.length ?? 'none'}`,
    );
  }
  to.data.set(from.data);
}
