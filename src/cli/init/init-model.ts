import { readdir } from 'node:fs/promises';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import {
  type ModelConfig,
  type ModelConfigOptions,
  resolveModelConfig,
} from '../../config/model-config.ts';
import { ConfigError } from '../../config/parse-config.ts';
import {
  createModel,
  dropoutFields,
  freshArchitecture,
} from '../../models/decoder/create-model.ts';
import { saveModel } from '../../models/decoder/save-model.ts';
import { showStatus } from '../terminal.ts';
import { formatBytes, formatCount } from '../units.ts';
import { copyTokenizer } from './copy-tokenizer.ts';

export interface InitOptions {
  readonly config: ModelConfigOptions;
  /** Folder of a tokenizer. */
  readonly tokenizer: string | undefined;
  readonly seed: number;
  /** Whether the folder may hold something. */
  readonly force: boolean;
}

/** Writes a fresh model to a folder; says in a sentence what was written. */
export async function initModel(out: string, options: InitOptions): Promise<string> {
  if (!options.force) await expectEmpty(out);
  const tokenizer =
    options.tokenizer === undefined ? undefined : await loadTokenizer(options.tokenizer);
  const config = fitVocabulary(options.config, tokenizer);
  const hideStatus = showStatus(`Writing ${out}`);
  const base = createModel(freshArchitecture(config), options.seed);
  const fields = { ...dropoutFields(config), ...tokenIds(tokenizer) };
  await saveModel(out, base, { config: fields }).finally(hideStatus);
  if (options.tokenizer !== undefined) await copyTokenizer(options.tokenizer, out);
  const parameters = [...base.weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  return `Wrote a fresh ${config.modelType} model to ${out}: ${formatCount(parameters)} parameters, ${formatBytes(4 * parameters)}`;
}

async function expectEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code !== 'ENOTDIR') throw error;
    throw new Error(`Cannot write a model to ${folder}: it must be a folder, got a file`);
  });
  if (names.length === 0) return;
  throw new Error(
    `Cannot write a model to ${folder}: it must be empty, got ${names.length} files; choose another folder or pass --force`,
  );
}

/** Without a given size, the vocabulary is the tokenizer's. */
function fitVocabulary(options: ModelConfigOptions, tokenizer: Tokenizer | undefined): ModelConfig {
  if (tokenizer === undefined) return resolveModelConfig(options);
  const config = resolveModelConfig({ vocabSize: tokenizer.vocabSize, ...options });
  if (config.vocabSize >= tokenizer.vocabSize) return config;
  throw new ConfigError(
    `Cannot use the model config: vocabSize must be at least the tokenizer's ${tokenizer.vocabSize}, got ${config.vocabSize}`,
  );
}

/** The tokens that generation needs to know. */
function tokenIds(tokenizer: Tokenizer | undefined) {
  if (tokenizer === undefined) return {};
  const { bosId, eosIds, padId, padIsVirtual } = tokenizer;
  return {
    bos_token_id: bosId ?? null,
    eos_token_id: eosIds.length > 1 ? eosIds : (eosIds[0] ?? null),
    pad_token_id: padIsVirtual ? null : padId,
  };
}
