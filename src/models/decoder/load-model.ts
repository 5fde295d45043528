import { type ResolveModelOptions, resolveModel } from '../../base-setup/hub/index.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import type { BaseModel } from './base-model.ts';
import { loadBase, readConfig } from './load-base.ts';

export interface LoadedModel {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  /** The folder that the model was read from. */
  readonly folder: string;
}

/** Loads a Hugging Face model from a folder or from the hub. */
export async function loadModel(
  idOrPath: string,
  options: ResolveModelOptions = {},
): Promise<LoadedModel> {
  const folder = await resolveModel(idOrPath, options);
  const architecture = await readConfig(folder);
  const tokenizer = await loadTokenizer(folder);
  return { base: await loadBase(folder, architecture), tokenizer, folder };
}
