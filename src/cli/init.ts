import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { loadTokenizer, type Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type ModelConfig,
  type ModelConfigOptions,
  modelConfigSchema,
  resolveModelConfig,
} from '../config/model-config.ts';
import { ConfigError } from '../config/parse-config.ts';
import {
  attentionDropoutField,
  createModel,
  freshArchitecture,
} from '../models/decoder/create-model.ts';
import { expectMatchingVocabulary } from '../models/decoder/read-base.ts';

import { saveModel } from '../models/decoder/save-model.ts';
import { formatBytes, formatCount, shellQuote, shortPath } from './format.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';
import { showStatus } from './terminal.ts';

const seedSchema = z.strictObject({
  seed: z.int().default(0).describe('The same seed creates the same weights'),
});

interface InitFlags {
  readonly output: string;
  readonly tokenizer?: string;
  readonly force?: boolean;
}

/** `proximal init`: a model with random weights as a Hugging Face folder. */
export function addInit(command: Command): void {
  command
    .description(
      'Create a model with random weights as a Hugging Face folder, which transformers can load.',
    )
    .requiredOption('--out, --output <folder>', 'Folder of the new model')
    .option('--tokenizer <folder>', "Folder to copy a tokenizer from, such as another model's")
    .option('--force', 'Write into a folder that is not empty');
  addSchemaOptions(command, seedSchema);
  addSchemaOptions(command, modelConfigSchema);
  command.action(async (flags: InitFlags) => {
    const config = readSchemaOptions(command, modelConfigSchema);
    const { seed = 0 } = readSchemaOptions(command, seedSchema);
    process.stdout.write(`${await createModelFolder(flags, { config, seed })}\n`);
  });
}

/** Writes a new model to a folder. Returns a sentence that describes it. */
async function createModelFolder(
  { output: out, tokenizer: source, force = false }: InitFlags,
  { config: options, seed }: { readonly config: ModelConfigOptions; readonly seed: number },
): Promise<string> {
  if (!force) await expectEmptyFolder(out, { remedy: ' or pass --force' });
  const tokenizer = source === undefined ? undefined : await loadTokenizer(source);
  const config = fitVocabulary(options, tokenizer);
  if (tokenizer !== undefined) {
    expectMatchingVocabulary(source!, { tokens: tokenizer.vocabSize, rows: config.vocabSize });
  }
  const hideStatus = showStatus(`Writing ${out}`);
  const base = createModel(freshArchitecture(config), seed);
  const fields = { ...attentionDropoutField(config), ...tokenIds(tokenizer) };
  await saveModel(out, base, { config: fields }).finally(hideStatus);
  if (source !== undefined) await copyTokenizer(source, out);
  const parameters = [...base.weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  const size = `${formatCount(parameters)} parameters, ${formatBytes(4 * parameters)}`;
  const created = `Created a ${config.modelType} model with random weights in ${out}: ${size}`;
  return source === undefined ? `${created}\n${describeMissingTokenizer(out)}` : created;
}

/** What a model without a tokenizer cannot do yet, and how to add one. */
function describeMissingTokenizer(folder: string): string {
  const place = shellQuote(shortPath(folder));
  return [
    'It has no tokenizer, which generating and training need. Copy tokenizer.json and',
    `tokenizer_config.json of another model into ${place}, or create the model again with`,
    `--tokenizer <folder>, such as the folder of a downloaded model; its vocabulary sets --vocab-size.`,
  ].join('\n');
}

/** The vocabulary has the size of the tokenizer unless the config sets another. */
function fitVocabulary(options: ModelConfigOptions, tokenizer: Tokenizer | undefined): ModelConfig {
  if (tokenizer === undefined) return resolveModelConfig(options);
  const config = resolveModelConfig({ vocabSize: tokenizer.vocabSize, ...options });
  if (config.vocabSize >= tokenizer.vocabSize) return config;
  throw new ConfigError(
    `Cannot use the model config: vocabSize must be at least the tokenizer's ${tokenizer.vocabSize}, got ${config.vocabSize}`,
  );
}

/** The special tokens that generation needs. */
function tokenIds(tokenizer: Tokenizer | undefined) {
  if (tokenizer === undefined) return {};
  const { bosId, eosIds, padId, padIsVirtual } = tokenizer;
  return {
    bos_token_id: bosId ?? null,
    eos_token_id: eosIds.length > 1 ? eosIds : (eosIds[0] ?? null),
    pad_token_id: padIsVirtual ? null : padId,
  };
}

const tokenizerFile =
  /^(tokenizer|special_tokens_map|added_tokens|chat_template|vocab|merges)\w*\.(json|jinja|txt|model)$/;

/** Copies a tokenizer's files from one model folder to another. */
async function copyTokenizer(from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => tokenizerFile.test(name));
  for (const name of names) await copyFile(join(from, name), join(to, name));
}

/** Requires a folder that a model can be written to: a new or empty one.
 *  @param options.remedy what else helps, after "choose another folder" */
export async function expectEmptyFolder(
  folder: string,
  { remedy = '' }: { readonly remedy?: string } = {},
): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code !== 'ENOTDIR') throw error;
    throw new ConfigError(`Cannot write a model to ${folder}: it must be a folder, got a file`);
  });
  if (names.length === 0) return;
  throw new ConfigError(
    `Cannot write a model to ${folder}: it must be empty, got ${names.length} files; choose another folder${remedy}`,
  );
}
