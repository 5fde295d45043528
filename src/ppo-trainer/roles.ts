import { join } from 'node:path';
import { readAdapter, scoreWeightName, writeAdapter } from '../base-setup/index.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import {
  type LoadedModel,
  type PolicyModel,
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

interface TrainedRoles {
  readonly model: LoadedModel;
  readonly policy: PolicyModel;
  readonly value?: ValueModel | undefined;
}

/** Writes the policy's adapter into a folder as PEFT does, and the value model's into another. */
export async function saveRoles(
  { model, policy, value }: TrainedRoles,
  { policyFolder, valueFolder }: { policyFolder: string; valueFolder: string },
): Promise<void> {
  const baseModelNameOrPath = model.name ?? model.folder;
  await writeAdapter(policyFolder, policy.adapter!, { baseModelNameOrPath });
  if (value === undefined) return;
  await writeAdapter(valueFolder, value.adapter!, {
    baseModelNameOrPath,
    extraTensors: new Map([[scoreWeightName, value.head]]),
    taskType: 'TOKEN_CLS',
  });
}

/** Copies saved weights into the existing arrays, which optimisers and sessions share. */
export async function loadRoles(
  { model, policy, value }: TrainedRoles,
  { policyFolder, valueFolder }: { policyFolder: string; valueFolder: string },
): Promise<void> {
  const modules = model.base.modules();
  const { adapter } = await readAdapter(policyFolder, modules);
  const saved = value && (await readAdapter(valueFolder, modules));
  expectSameShapes(policy.adapter!, adapter, policyFolder);
  if (value !== undefined && saved !== undefined) {
    expectSameShapes(value.adapter!, saved.adapter, valueFolder);
    restoreWeights(saved.adapter, value.adapter!);
    restoreTensor(
      saved.extraTensors.get(scoreWeightName),
      value.head,
      join(valueFolder, scoreWeightName),
    );
  }
  restoreWeights(adapter, policy.adapter!);
}

/** The folders of a run's checkpoint. */
export function checkpointFolders(folder: string) {
  return { policyFolder: join(folder, 'policy'), valueFolder: join(folder, 'value') };
}

function expectSameShapes(own: LoraAdapter, saved: LoraAdapter, folder: string): void {
  const shapes = ({ config, weights }: LoraAdapter) =>
    JSON.stringify([
      config.lora_alpha,
      [...weights].map(([name, { shape }]) => [name, shape]).sort(),
    ]);
  if (shapes(own) === shapes(saved)) return;
  throw new Error(
    `Cannot load the adapter of ${folder}: it must have the rank, alpha and modules of the config (rank ${own.config.r}, alpha ${own.config.lora_alpha}, ${own.modules().length} modules), got rank ${saved.config.r}, alpha ${saved.config.lora_alpha}, ${saved.modules().length} modules; set loraR, loraAlpha and loraTargets to those`,
  );
}

function restoreWeights(from: LoraAdapter, to: LoraAdapter): void {
  for (const [name, tensor] of to.weights) restoreTensor(from.weights.get(name), tensor, name);
}

function restoreTensor(
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
