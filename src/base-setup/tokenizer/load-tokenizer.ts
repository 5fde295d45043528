import { join } from 'node:path';
import { Tokenizer } from './tokenizer.ts';
import { readTokenizerFiles } from './tokenizer-files.ts';

/** Loads the tokenizer of a model's folder: tokenizer.json, and beside it what there is of
 *  tokenizer_config.json, special_tokens_map.json, chat_template.jinja, generation_config.json and
 *  config.json. */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const files = await readTokenizerFiles(folder);
  try {
    return new Tokenizer(files);
  } catch (cause) {
    const { message } = cause as Error;
    throw new TypeError(`Cannot load ${join(folder, 'tokenizer.json')}: ${message}`, { cause });
  }
}
