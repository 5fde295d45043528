import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readAdapter, scoreWeightName, type Tokenizer, writeAdapter } from '../base-setup/index.ts';
import { parseJsonObject, statIfExists, writeAtomically } from '../fs/index.ts';
import type { BaseModel } from './decoder/base-model.ts';
import { RewardModel, type ScoreNormalization } from './reward-model.ts';

const normalizationFile = 'score_normalization.json';

const normalizationSchema = z.object({ mean: z.number(), std: z.number().positive() });

/** Writes a reward model as PEFT saves one for sequence classification, with what normalises its
 *  scores beside it. */
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
    extraTensors: new Map([[scoreWeightName, model.head]]),
    taskType: 'SEQ_CLS',
  });
  const normalization = JSON.stringify(model.normalization, undefined, 2);
  await writeAtomically(join(folder, normalizationFile), `${normalization}\n`);
}

/** Reads a reward model that `saveRewardModel` or PEFT saved, over a base that is loaded. */
export async function loadRewardModel(
  folder: string,
  { base, tokenizer }: { base: BaseModel; tokenizer: Tokenizer },
): Promise<RewardModel> {
  const { adapter, extraTensors } = await readAdapter(folder, base.modules());
  const head = extraTensors.get(scoreWeightName);
  if (head === undefined) {
    throw new Error(
      `Cannot load the reward model ${folder}: its adapter must hold the head ${scoreWeightName}, got none; save it with PEFT's modules_to_save or with proximal`,
    );
  }
  const normalization = await readNormalization(join(folder, normalizationFile));
  return new RewardModel({ base, tokenizer, adapter, head, normalization });
}

/** Models of others have none. */
async function readNormalization(file: string): Promise<ScoreNormalization | undefined> {
  if ((await statIfExists(file)) === undefined) return undefined;
  const { success, data } = normalizationSchema.safeParse(
    parseJsonObject(await readFile(file, 'utf8'), file),
  );
  if (success) return data;
  throw new Error(`Cannot read ${file}: it must hold the numbers mean and std > 0`);
}
