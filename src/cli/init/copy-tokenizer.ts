import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const tokenizerFile =
  /^(tokenizer|special_tokens_map|added_tokens|chat_template|vocab|merges)\w*\.(json|jinja|txt|model)$/;

/** Copies the files of a tokenizer from one model's folder to another's. */
export async function copyTokenizer(from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => tokenizerFile.test(name));
  for (const name of names) await copyFile(join(from, name), join(to, name));
}
