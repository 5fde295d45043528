import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { qwen3Folder } from '../../test/fixtures/tokenizer/folders.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer, type Tokenizer } from '../base-setup/tokenizer/index.ts';
import { loadCompletions } from './completion-dataset.ts';
import { loadPreferences } from './preference-dataset.ts';

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe("with Qwen3's own template", () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer(qwen3Folder);
  }, 60_000);

  test("all of the assistant's turns are trained up to their end, and no other", async () => {
    const messages = [user('Hi'), assistant('Hello\n'), user('Why?'), assistant('think')];
    const { train } = await loadCompletions([{ messages }], tokenizer);
    const { text, tokens, lossMask } = train[0]!;
    expect(text).toBe(
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello\n<|im_end|>\n' +
        '<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nthink<|im_end|>',
    );
    expect(tokenizer.decode(tokens)).toBe(text);
    const pieces = tokenizer.pieces(tokens).map((piece, t) => (lossMask[t] === 1 ? piece : ' … '));
    expect(pieces.join('').replace(/( … )+/g, ' … ')).toBe(
      ' … Hello\n<|im_end|> … <think>\n\n</think>\n\nthink<|im_end|>',
    );
  });

  test('a pair ends where a response of the model would', async () => {
    const row = {
      chosen: [user('Hi'), assistant('Hello')],
      rejected: [user('Hi'), assistant('Go')],
    };
    const { train } = await loadPreferences([row], tokenizer);
    const { promptText, chosenText, promptTokens, chosenTokens } = train[0]!.pairs[0]!;
    expect(promptText).toBe('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n');
    expect(chosenText).toBe('<think>\n\n</think>\n\nHello<|im_end|>');
    expect(tokenizer.eosIds).toContain(chosenTokens.at(-1));
    expect(tokenizer.decode([...promptTokens, ...chosenTokens])).toBe(promptText + chosenText);
  });
});

test('a template that rewrites the prompt is told', async () => {
  const folder = writeTinyTokenizer(makeTempFolder());
  const file = join(folder, 'tokenizer_config.json');
  const chat_template = '{{ messages[-1].content }}';
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), chat_template }));
  const tokenizer = await loadTokenizer(folder);
  const fault =
    'got 1 bad (1 chat-template), of which the first says: Cannot apply the chat template to row 1: a conversation must start with its prompt and the start of the answer, got another text; take a template that adds messages at the end only';
  const messages = [user('cat'), assistant('dog'), user('a'), assistant('the')];
  await expect(loadCompletions([{ messages }], tokenizer)).rejects.toThrow(fault);
  const pair = { prompt: [user('cat')], chosen: 'dog', rejected: 'the' };
  await expect(loadPreferences([pair], tokenizer)).rejects.toThrow(fault);
});
