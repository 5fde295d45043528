import { resolve } from 'node:path';
import { type ResolveModelOptions, resolveModel } from '../../base-setup/hub/index.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import type { BaseModel } from './base-model.ts';
import { loadBase, readConfig } from './load-base.ts';

/** A base model and its tokenizer, read from the same folder. */
export interface LoadedModel {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  /** The folder that the model was read from. */
  readonly folder: string;
  /** What adapters name as their base: the id on the hub; the folder if not given. */
  readonly name?: string | undefined;
}

/** Loads a Hugging Face model from a folder or from the hub. */
export async function loadModel(
  idOrPath: string,
  options: ResolveModelOptions = {},
): Promise<LoadedModel> {
  const folder = await resolveModel(idOrPath, options);
  const architecture = await readConfig(folder);
  const tokenizer = await loadTokenizer(folder);
  const name = resolve(idOrPath) === folder ? folder : idOrPath;
  return { base: await loadBase(folder, architecture), tokenizer, folder, name };
}
