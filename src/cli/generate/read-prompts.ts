import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Tokenizer } from '../../base-setup/tokenizer/index.ts';
import type { GenerateFlags } from './generate-flags.ts';

/** The prompts as they were given: those of flags, then those of files without their last line break. */
export async function readPrompts({
  prompt = [],
  promptFile = [],
}: Pick<GenerateFlags, 'prompt' | 'promptFile'>): Promise<string[]> {
  const prompts = [...prompt];
  for (const file of promptFile) {
    const text = file === '-' ? await readAll(process.stdin) : await readPrompt(file);
    prompts.push(text.replace(/\r?\n$/, ''));
  }
  return prompts;
}

async function readPrompt(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const got = error.code === 'ENOENT' ? 'nothing there' : error.message;
    throw new Error(`Cannot read the prompt ${file}: it must be a text file, got ${got}`);
  });
}

/** A prompt's tokens; a chat's template writes special tokens itself. */
export function encodePrompt(
  prompt: string,
  { tokenizer, chat }: { tokenizer: Tokenizer; chat: boolean },
): Int32Array {
  if (!chat) return tokenizer.encode(prompt);
  const messages = [{ role: 'user', content: prompt }];
  const text = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true });
  return tokenizer.encode(text, { addSpecialTokens: false });
}
