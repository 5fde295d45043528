import { join } from 'node:path';
import { readTextIfExists } from '../../fs/read.ts';
import { callWithin } from './time-limit.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';
import { readTokenizerFiles } from './tokenizer-files.ts';

/** Loads the tokenizer in a model's folder from tokenizer.json and, if present,
 *  tokenizer_config.json, special_tokens_map.json, chat_template.jinja, generation_config.json and
 *  config.json. */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const read = (name: string) => readTextIfExists(join(folder, name));
  return createTokenizer(await readTokenizerFiles(read, folder), { where: folder, callWithin });
}
