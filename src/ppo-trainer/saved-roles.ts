import { join } from 'node:path';
import {
  type LoraAdapter,
  readAdapter,
  scoreWeightName,
  writeAdapter,
} from '../base-setup/index.ts';
import type { Tensor } from '../engine/runtime/index.ts';
import type { PPOComponents } from './components.ts';

type Roles = Pick<PPOComponents, 'model' | 'policy' | 'value'>;

/** Writes the policy's adapter into a folder as PEFT does, and the value model's into another. */
export async function saveRoles(
  { model, policy, value }: Roles,
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

/** Copies saved weights into those that are there: optimisers and sessions keep seeing them. */
export async function loadRoles(
  { model, policy, value }: Roles,
  { policyFolder, valueFolder }: { policyFolder: string; valueFolder: string },
): Promise<void> {
  const modules = model.base.modules();
  const { adapter } = await readAdapter(policyFolder, modules);
  const saved = value && (await readAdapter(valueFolder, modules));
  expectAlike(policy.adapter!, adapter, policyFolder);
  if (value !== undefined && saved !== undefined) {
    expectAlike(value.adapter!, saved.adapter, valueFolder);
    copyWeights(saved.adapter, value.adapter!);
    copyTensor(
      saved.extraTensors.get(scoreWeightName),
      value.head,
      join(valueFolder, scoreWeightName),
    );
  }
  copyWeights(adapter, policy.adapter!);
}

/** The folders of a run's checkpoint. */
export function checkpointFolders(folder: string) {
  return { policyFolder: join(folder, 'policy'), valueFolder: join(folder, 'value') };
}

function expectAlike(own: LoraAdapter, saved: LoraAdapter, folder: string): void {
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

function copyWeights(from: LoraAdapter, to: LoraAdapter): void {
  for (const [name, tensor] of to.weights) copyTensor(from.weights.get(name), tensor, name);
}

function copyTensor(
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
