import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import {
  type FloatDtype,
  type NamedTensor,
  writeShardedSafetensors,
} from '../../base-setup/safetensors/index.ts';
import { expectRegular, statIfExists, writeAtomically } from '../../fs/index.ts';
import type { BaseModel } from './base-model.ts';
import { buildConfigJson, buildGenerationJson, type ConfigJson } from './config-json.ts';
import { expectFloat32, mergedWeights } from './merge-adapter.ts';

/** What is written with a model besides its own weights. */
export interface SaveModelOptions {
  /** Merged into the weights as they are written; the model itself is unchanged. */
  readonly adapter?: LoraAdapter | undefined;
  /** The folder that the model was loaded from, whose config and tokenizer are copied. */
  readonly source?: string | undefined;
  /** Fields of config.json that override those of the source, such as `eos_token_id`. */
  readonly config?: ConfigJson;
  /** F32 by default. */
  readonly dtype?: FloatDtype;
  /** Maximum bytes of weights per file; 5 GB by default. */
  readonly maxShardBytes?: number;
}

const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'chat_template.json',
  'vocab.json',
  'merges.txt',
  'tokenizer.model',
] as const;

/** Writes a model as a Hugging Face folder. The weights are written last.
 *  @example
 *  const { base, folder: source } = await loadModel('Qwen/Qwen3-0.6B');
 *  await saveModel('my-model', base, { adapter, source, dtype: 'BF16' }); */
export async function saveModel(
  folder: string,
  base: BaseModel,
  options: SaveModelOptions = {},
): Promise<void> {
  const { source, dtype = 'F32', config = {} } = options;
  expectFloat32(base, 'save the model');
  await mkdir(folder, { recursive: true });
  if (source !== undefined) await expectOtherFolder(folder, source);
  const json = await buildConfigJson(base.architecture, { source, dtype, config });
  await writeJson(join(folder, 'config.json'), json);
  const copied = source === undefined ? [] : await copyFiles(source, folder);
  if (!copied.includes('generation_config.json')) {
    await writeJson(join(folder, 'generation_config.json'), buildGenerationJson(json));
  }
  await writeShardedSafetensors(folder, {
    dtype,
    tensors: [...base.weights].map(([name, { shape }]) => ({ name, shape })),
    stream: streamWeights(base, options.adapter),
    ...(options.maxShardBytes !== undefined && { maxShardBytes: options.maxShardBytes }),
  });
}

async function* streamWeights(
  base: BaseModel,
  adapter: LoraAdapter | undefined,
): AsyncGenerator<NamedTensor> {
  for await (const [name, { shape, data }] of mergedWeights(base, adapter)) {
    yield { name, shape, data };
  }
}

/** Never overwrites the model's own folder: an interruption would leave nothing complete. */
async function expectOtherFolder(folder: string, source: string): Promise<void> {
  if ((await realpath(folder)) !== (await realpath(source))) return;
  throw new Error(
    `Cannot save the model to ${folder}: it must differ from the folder it was loaded from`,
  );
}

/** Copies the source's files other than weights and config, and returns their names. */
async function copyFiles(source: string, folder: string): Promise<readonly string[]> {
  const copied: string[] = [];
  for (const name of ['generation_config.json', ...tokenizerFiles]) {
    const file = join(source, name);
    const stats = await statIfExists(file);
    if (stats === undefined) continue;
    expectRegular(file, { stats, action: 'read' });
    await writeAtomically(join(folder, name), await readFile(file));
    copied.push(name);
  }
  return copied;
}

async function writeJson(path: string, json: ConfigJson): Promise<void> {
  await writeAtomically(path, `${JSON.stringify(json, undefined, 2)}\n`);
}
