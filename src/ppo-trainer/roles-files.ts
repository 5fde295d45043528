import { join } from 'node:path';
import { readAdapter, writeAdapter } from '../base-setup/index.ts';
import { tensor } from '../engine/runtime/index.ts';
import {
  type LoadedModel,
  type PolicyModel,
  readScalarHead,
  type ValueModel,
} from '../models/index.ts';
import { describeBase, expectSameShapes, restoreTensor, restoreWeights } from './roles.ts';

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
  const { architecture } = model.base;
  const about = { ...describeBase(model), fingerprint: model.base.fingerprint() };
  await writeAdapter(policyFolder, policy.adapter!, about);
  if (value === undefined) return;
  const { tokenClassifier } = architecture.family.names;
  await writeAdapter(valueFolder, value.adapter!, {
    ...about,
    taskType: 'TOKEN_CLS',
    // A token classifier of transformers always has a bias.
    extraTensors: new Map([
      [`${tokenClassifier}.weight`, value.head],
      [`${tokenClassifier}.bias`, value.bias ?? tensor(new Float32Array(1), [1])],
    ]),
  });
}

/** Copies saved weights into the existing arrays, which optimisers and sessions share. */
export async function loadRoles(
  { model, policy, value }: TrainedRoles,
  { policyFolder, valueFolder }: { policyFolder: string; valueFolder: string },
): Promise<void> {
  const { adapter } = await readAdapter(policyFolder, model.base);
  const saved = value && (await readAdapter(valueFolder, model.base));
  expectSameShapes(policy.adapter!, adapter, policyFolder);
  if (value !== undefined && saved !== undefined) {
    expectSameShapes(value.adapter!, saved.adapter, valueFolder);
    restoreWeights(saved.adapter, value.adapter!);
    const what = `the value model ${valueFolder}`;
    const hiddenSize = value.head.data.length;
    const head = readScalarHead(saved.extraTensors, { what, hiddenSize });
    restoreTensor(head?.head, value.head, `the head of ${what}`);
    value.bias?.data.set(head?.bias?.data ?? [0]);
  }
  restoreWeights(adapter, policy.adapter!);
}

/** The folders of a run's checkpoint. */
export function checkpointFolders(folder: string) {
  return { policyFolder: join(folder, 'policy'), valueFolder: join(folder, 'value') };
}
