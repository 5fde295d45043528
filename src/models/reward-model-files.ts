import { join } from 'node:path';
import { z } from 'zod';
import {
  type PeftAdapter,
  readAdapter,
  scoreWeightName,
  type Tokenizer,
  writeAdapter,
} from '../base-setup/index.ts';
import { parseJsonObject, readRegularText, statIfExists, writeAtomically } from '../fs/index.ts';
import type { BaseModel } from './decoder/base-model.ts';
import type { ModelHeader } from './decoder/load-model.ts';
import { transposedModules } from './decoder/weight-shapes.ts';
import { RewardModel, type RewardModelOptions, type ScoreNormalization } from './reward-model.ts';
import { readScalarHead } from './scalar-model.ts';

const normalizationFile = 'score_normalization.json';

const normalizationSchema = z.object({ mean: z.number(), std: z.number().positive() });

/** Writes a reward model as PEFT saves one for sequence classification, with the normalisation of
 *  its scores in an extra file. */
export async function saveRewardModel(
  folder: string,
  model: RewardModel,
  { baseModelNameOrPath }: { baseModelNameOrPath: string },
): Promise<void> {
  if (model.adapter === undefined) {
    throw new Error('Cannot save the reward model: it must have an adapter, got none; train one');
  }
  await writeAdapter(folder, model.adapter, {
    baseModelNameOrPath,
    fingerprint: model.base.fingerprint(),
    extraTensors: new Map([[scoreWeightName, model.head]]),
    taskType: 'SEQ_CLS',
    fanInFanOut: transposedModules(model.base.architecture).size > 0,
  });
  // A sequence classifier of transformers has no bias: (x + b − μ)/σ = (x − (μ − b))/σ.
  const { mean, std } = model.normalization;
  const folded = { mean: mean - (model.bias?.data[0] ?? 0), std };
  const normalization = JSON.stringify(folded, undefined, 2);
  await writeAtomically(join(folder, normalizationFile), `${normalization}\n`);
}

/** The base of a reward model and its tokenizer. */
export interface LoadRewardModelOptions {
  /** The base that the reward model was trained on. */
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  /** Receives a sentence if the reward model may be for another base. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** Reads a reward model that `saveRewardModel` or PEFT saved, over a loaded base. */
export async function loadRewardModel(
  folder: string,
  { base, tokenizer, warn }: LoadRewardModelOptions,
): Promise<RewardModel> {
  const { warning, ...weights } = await readRewardModel(folder, base);
  if (warning !== undefined) warn?.(warning);
  return new RewardModel({ base, tokenizer, ...weights });
}

/** Reads and checks the adapter, head and normalisation of a reward model. */
export async function readRewardModel(
  folder: string,
  base: ModelHeader['base'],
): Promise<
  Pick<RewardModelOptions, 'adapter' | 'head' | 'bias' | 'normalization'> &
    Pick<PeftAdapter, 'warning'>
> {
  const { adapter, extraTensors, warning } = await readAdapter(folder, base);
  const { hidden_size: hiddenSize } = base.architecture.config;
  const what = `the reward model ${folder}`;
  const saved = readScalarHead(extraTensors, { what, hiddenSize });
  if (saved === undefined) {
    throw new Error(
      `Cannot load the reward model ${folder}: its adapter must contain the head ${scoreWeightName}, got none; save it with PEFT's modules_to_save or with proximal`,
    );
  }
  const normalization = await readNormalization(join(folder, normalizationFile));
  return { adapter, ...saved, normalization, warning };
}

/** Reward models from PEFT have no such file. */
async function readNormalization(file: string): Promise<ScoreNormalization | undefined> {
  if ((await statIfExists(file)) === undefined) return undefined;
  const { success, data } = normalizationSchema.safeParse(
    parseJsonObject(await readRegularText(file), file),
  );
  if (success) return data;
  throw new Error(`Cannot read ${file}: it must contain the numbers mean and std > 0`);
}
