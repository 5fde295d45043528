import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { createModel } from '../../src/models/decoder/create-model.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import { saveModel } from '../../src/models/decoder/save-model.ts';

/** Sizes with which a run takes about a second. */
const sizes = {
  ...{ num_hidden_layers: 2, hidden_size: 32, intermediate_size: 64 },
  ...{ num_attention_heads: 2, num_key_value_heads: 2, head_dim: 16 },
};

/** Writes a model with random weights and the tokenizer of the embedded one. */
export async function writeTinyModel(folder: string): Promise<void> {
  const config = JSON.parse(readFileSync(join(embeddedFolder, 'config.json'), 'utf8')) as object;
  await saveModel(folder, createModel(readArchitecture({ ...config, ...sizes }), 1));
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    copyFileSync(join(embeddedFolder, name), join(folder, name));
  }
}
