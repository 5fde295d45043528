import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { qwen3Folder, tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer, type Tokenizer } from '../base-setup/tokenizer/index.ts';
import { type LoadCompletionsOptions, loadCompletions } from './completion-dataset.ts';
import { loadPreferences } from './preference-dataset.ts';
import type { RowSource } from './read-rows.ts';

/** A token for each word: the 3, a 4, cat 5, dog 6, sees 7, likes 8, and 9, runs 10; EOS is 1.
 *  Its chat template writes each message's content followed by ` and `. */
const load = async (source: RowSource, options: LoadCompletionsOptions = {}) =>
  loadCompletions(source, await loadTokenizer(writeTinyTokenizer(makeTempFolder())), {
    validationFraction: 0,
    ...options,
  });

async function loadOne(row: string | Record<string, unknown>, options?: LoadCompletionsOptions) {
  const { train } = await load([row], options);
  expect(train).toHaveLength(1);
  return train[0]!;
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const row = { prompt: 'the cat', completion: ' sees a dog' };

describe('loadCompletions() reads', () => {
  test('prompts with completions, and trains the completion and its EOS', async () => {
    const { train, validation, report } = await load([row]);
    expect(train).toEqual([
      {
        text: 'the cat sees a dog',
        promptText: 'the cat',
        tokens: Int32Array.of(3, 5, 7, 4, 6, 1),
        lossMask: Uint8Array.of(0, 0, 1, 1, 1, 1),
        isTruncated: false,
        origin: 'row 1',
      },
    ]);
    expect(validation).toEqual([]);
    expect(report).toEqual({
      ...{ read: 1, kept: 1, bad: 0, repeated: 0, reasons: {}, examples: [], truncated: 0 },
    });
  });

  test('texts, and trains every token but the first', async () => {
    const { tokens, lossMask, promptText } = await loadOne('the cat runs');
    expect(tokens).toEqual(Int32Array.of(3, 5, 10, 1));
    expect(lossMask).toEqual(Uint8Array.of(0, 1, 1, 1));
    expect(promptText).toBe('');
  });

  test("conversations, and trains the assistant's turns with their ends", async () => {
    const messages = [user('cat'), assistant('runs'), user('dog'), assistant('likes'), user('a')];
    const { text, tokens, lossMask, promptText } = await loadOne({ messages });
    expect(text).toBe('cat and runs and dog and likes and');
    expect(tokens).toEqual(Int32Array.of(5, 9, 10, 9, 6, 9, 8, 9, 1));
    expect(lossMask).toEqual(Uint8Array.of(0, 0, 1, 1, 0, 0, 1, 1, 1));
    expect(promptText).toBe('cat and ');
  });

  test('prompts and completions as messages', async () => {
    const expected = { text: 'cat and runs and', lossMask: Uint8Array.of(0, 0, 1, 1, 1) };
    const messages = { prompt: [user('cat')], completion: [assistant('runs')] };
    expect(await loadOne(messages)).toMatchObject(expected);
    const texts = { prompt: 'cat', completion: 'runs' };
    expect(await loadOne(texts, { chat: true })).toMatchObject(expected);
  });

  test('an EOS that already exists, without adding another', async () => {
    const { tokens } = await loadOne({ ...row, completion: ' runs<eos>' });
    expect(tokens).toEqual(Int32Array.of(3, 5, 10, 1));
    expect((await loadOne(row, { appendEos: false })).tokens).toEqual(Int32Array.of(3, 5, 7, 4, 6));
  });

  test('special tokens before plain text, without training them', async () => {
    const tokenizer = await loadTokenizer(
      tokenizerFolders.find(({ name }) => name === 'tiny-llama2')!.folder,
    );
    const options = { appendEos: false };
    const { train } = await loadCompletions(['the a'], tokenizer, options);
    expect(train[0]!.tokens).toEqual(tokenizer.encode('the a'));
    expect([...train[0]!.lossMask].indexOf(1)).toBe(1);
  });

  test('custom column names and prompts from a template', async () => {
    const alpaca = { instruction: 'the cat', output: ' runs' };
    const options = { completionColumn: 'output' };
    const named = await loadOne(alpaca, { ...options, promptColumn: 'instruction' });
    expect(named.text).toBe('the cat runs');
    const filled = await loadOne(alpaca, { ...options, template: 'a {instruction} and' });
    expect(filled.promptText).toBe('a the cat and');
  });
});

describe('a text that is too long', () => {
  test('is truncated and counted', async () => {
    const { train, report } = await load([row], { maxTokens: 4 });
    expect(train[0]).toMatchObject({
      tokens: Int32Array.of(3, 5, 7, 4),
      lossMask: Uint8Array.of(0, 0, 1, 1),
      isTruncated: true,
    });
    expect(report).toMatchObject({ kept: 1, truncated: 1 });
  });

  test('is dropped on request, or if nothing to train is left', async () => {
    const long = { ...row, prompt: 'the cat and the dog' };
    const short = { ...row, completion: ' runs' };
    const dropped = await load([short, row], { contextLength: 5, tooLong: 'drop' });
    expect(dropped.report).toMatchObject({ kept: 1, truncated: 0, reasons: { 'too-long': 1 } });
    expect(dropped.report.examples[0]!.message).toBe(
      'Cannot read row 2: the text must fit in 5 tokens, got 6',
    );
    const truncated = await load([short, long], { contextLength: 5 });
    expect(truncated.report.examples[0]!.message).toBe(
      'Cannot read row 2: the prompt and some of its completion must fit in 5 tokens, got 9',
    );
  });
});

describe('loadCompletions() counts as bad', () => {
  test.each<[string, object, string, LoadCompletionsOptions?]>([
    [
      'missing-column',
      { prompt: 'a' },
      'it must have "messages", or "prompt" and "completion", or "text", got "prompt"; set completionColumn and similar options',
    ],
    [
      'missing-column',
      { text: 'a' },
      'it must have "messages", or "prompt" and "completion", got "text"',
      { chat: true },
    ],
    ['wrong-type', { text: 5 }, '"text" must be text or a list of messages, got number'],
    [
      'wrong-type',
      { text: [user('a')] },
      '"text" must be text, got a list; set messagesColumn to "text"',
    ],
    [
      'wrong-type',
      { messages: 'a' },
      '"messages" must be a list of messages, got text; set textColumn to "messages"',
    ],
    [
      'wrong-type',
      { messages: ['a'] },
      'message 1 of "messages" must be an object with a role, got none',
    ],
    ['empty-completion', { text: '\n' }, 'its completion must have text, got none'],
    ['empty-completion', { ...row, completion: ' ' }, 'its completion must have text, got none'],
    [
      'empty-completion',
      { messages: [user('a')] },
      '"messages" must have an assistant message to train on, got none',
    ],
    ['empty-prompt', { ...row, prompt: '' }, 'its prompt must have text, got none'],
  ])('%s %j', async (reason, bad, error, options = {}) => {
    await expect(load([bad as Record<string, unknown>], options)).rejects.toThrow(
      `Cannot use the rows: at least one row must be valid, got 1 invalid (1 ${reason}); the first error is: Cannot read row 1: ${error}`,
    );
  });

  test('rows of a different kind and turns without text', async () => {
    const { report } = await load([row, 'a cat', { messages: [user('a'), assistant('the')] }]);
    expect(report.examples.map(({ message }) => message)).toEqual([
      'Cannot read row 2: it must contain prompts with completions like row 1, got texts; put different rows into separate files',
      'Cannot read row 3: it must contain prompts with completions like row 1, got conversations; put different rows into separate files',
    ]);
    await expect(load([{ messages: [user('a'), assistant('')] }])).rejects.toThrow(
      'Cannot read row 1: each assistant turn must have text or tool calls, got one without',
    );
  });
});

test('the split keeps a prompt, or a whole text, on one side', async () => {
  const texts = ['a cat', 'a dog', 'the cat', 'the dog', 'a cat', 'the cat'];
  const file = join(makeTempFolder(), 't.txt');
  writeFileSync(file, texts.join('\n'));
  for (const source of [file, texts.map((prompt) => ({ prompt, completion: ' runs' }))]) {
    const { train, validation } = await load(source, { validationFraction: 0.5, seed: 1 });
    const held = new Set(validation.map(({ text }) => text));
    expect(held.size).toBe(2);
    expect(train.filter(({ text }) => held.has(text))).toEqual([]);
    expect(train.length + validation.length).toBe(6);
  }
});

describe("with Qwen3's own template", () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer(qwen3Folder);
  }, 60_000);

  test("exactly the assistant's turns are trained, up to their end", async () => {
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

  test('a pair ends where a response of the model would end', async () => {
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

test('a template that rewrites the prompt is rejected', async () => {
  const folder = writeTinyTokenizer(makeTempFolder());
  const file = join(folder, 'tokenizer_config.json');
  const chat_template = '{{ messages[-1].content }}';
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), chat_template }));
  const tokenizer = await loadTokenizer(folder);
  const error =
    'got 1 invalid (1 chat-template); the first error is: Cannot apply the chat template to row 1: a conversation must start with its prompt and the start of the answer, got a different text; use a template that only appends messages';
  const messages = [user('cat'), assistant('dog'), user('a'), assistant('the')];
  await expect(loadCompletions([{ messages }], tokenizer)).rejects.toThrow(error);
  const pair = { prompt: [user('cat')], chosen: 'dog', rejected: 'the' };
  await expect(loadPreferences([pair], tokenizer)).rejects.toThrow(error);
});
