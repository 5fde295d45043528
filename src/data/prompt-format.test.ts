import { describe, expect, test } from 'vitest';
import { qwen3Folder, tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { type PromptOptions, resolvePromptOptions } from '../config/data-config.ts';
import type { DataRow } from './data-row.ts';
import { PromptFormatter } from './prompt-format.ts';
import { fillTemplate } from './row-columns.ts';

const row = (columns: Record<string, unknown>): DataRow => ({ columns, origin: 'p.jsonl line 7' });

/** Its chat template writes each message's content followed by ` and `. */
const loadTiny = () => loadTokenizer(writeTinyTokenizer(makeTempFolder()));

async function format(columns: Record<string, unknown>, options: PromptOptions = {}) {
  const formatter = new PromptFormatter({
    ...resolvePromptOptions(options),
    tokenizer: await loadTiny(),
  });
  return formatter.format(row(columns));
}

describe('a prompt', () => {
  test.each([
    [{ text: 'b', prompt: 'a' }, 'a'],
    [{ question: 'b', text: 'a' }, 'a'],
    [{ answer: 'x', instruction: 'a' }, 'a'],
    [{ post: 'a' }, 'a'],
  ])('is found in %j', async (columns, text) => {
    expect(await format(columns)).toEqual({ text, isChat: false });
  });

  test('comes from the named column', async () => {
    const { text } = await format({ prompt: 'a', title: 'b' }, { promptColumn: 'title' });
    expect(text).toBe('b');
  });

  test('comes from the same column in every row', async () => {
    const tokenizer = await loadTiny();
    const formatter = new PromptFormatter({ ...resolvePromptOptions(), tokenizer });
    expect(formatter.format(row({ text: 'a' })).text).toBe('a');
    expect(formatter.format(row({ text: 'b', prompt: 'c' })).text).toBe('b');
    expect(() => formatter.format(row({ prompt: 'c' }))).toThrow(
      'Cannot find a prompt in p.jsonl line 7: it must have a column "text", got "prompt"; set promptColumn or template',
    );
  });

  test.each([
    [
      { a: 'x', b: 'y' },
      'Cannot find a prompt in p.jsonl line 7: it must have a column prompt, text, question, instruction, messages, query, post, got "a", "b"; set promptColumn or template',
    ],
    [
      { prompt: 5 },
      'Cannot read p.jsonl line 7: "prompt" must be a string or a list of messages, got number',
    ],
    [
      { prompt: null },
      'Cannot read p.jsonl line 7: "prompt" must be a string or a list of messages, got null',
    ],
    [
      { messages: [{ role: 'user', content: 'x' }, 'y'] },
      'Cannot read p.jsonl line 7: message 2 of "messages" must be an object with a role, got none',
    ],
    [
      { messages: [] },
      'Cannot read p.jsonl line 7: "messages" must have a message to answer, got none',
    ],
    [
      { messages: [{ role: 'assistant', content: 'x' }] },
      `Cannot read p.jsonl line 7: "messages" must have a message to answer, got only assistant messages`,
    ],
  ])('is not found in %j', async (columns, message) => {
    await expect(format(columns)).rejects.toThrow(message);
  });
});

describe('a chat', () => {
  const user = (content: string) => ({ role: 'user', content });
  const assistant = (content: string) => ({ role: 'assistant', content });

  test("has the prompt as the user's message, after the system's", async () => {
    expect(await format({ prompt: 'cat' }, { chat: true })).toEqual({
      text: 'cat and ',
      isChat: true,
      messages: [user('cat')],
    });
    const options = { chat: true, systemPrompt: 'dog' };
    expect((await format({ prompt: 'cat' }, options)).text).toBe('dog and cat and ');
  });

  test('comes from messages up to the last that is not an answer', async () => {
    const messages = [user('a'), assistant('b'), user('c'), assistant('d')];
    expect(await format({ messages })).toEqual({
      text: 'a and b and c and ',
      isChat: true,
      messages: messages.slice(0, 3),
    });
    expect((await format({ prompt: messages })).text).toBe('a and b and c and ');
  });

  test('keeps its own system message', async () => {
    const messages = [{ role: 'system', content: 'own' }, user('a')];
    expect((await format({ messages }, { systemPrompt: 'other' })).text).toBe('own and a and ');
    expect((await format({ messages: [user('a')] }, { systemPrompt: 'x' })).text).toBe(
      'x and a and ',
    );
  });

  test('can come from a template', async () => {
    const options = { chat: true, template: '{a}?' };
    expect((await format({ a: 'x' }, options)).text).toBe('x? and ');
  });

  test('is not created for an empty prompt', async () => {
    const options = { chat: true, systemPrompt: 'x' };
    expect(await format({ prompt: ' ' }, options)).toEqual({ text: ' ', isChat: false });
  });

  test('is required for a system prompt', async () => {
    await expect(format({ prompt: 'a' }, { systemPrompt: 'x' })).rejects.toThrow(
      'Cannot add a system prompt to p.jsonl line 7: it must be a chat, got plain text; set chat, or remove systemPrompt',
    );
  });

  test('requires a template', async () => {
    const { folder } = tokenizerFolders.find(({ name }) => name === 'tiny-llama2')!;
    const tokenizer = await loadTokenizer(folder);
    const options = { ...resolvePromptOptions({ chat: true }), tokenizer };
    expect(() => new PromptFormatter(options).format(row({ prompt: 'a' }))).toThrow(
      'Cannot apply the chat template to p.jsonl line 7: the tokenizer must have one, got none;',
    );
  });

  test("opens the assistant's answer in Qwen3's template", async () => {
    const tokenizer = await loadTokenizer(qwen3Folder);
    const formatter = new PromptFormatter({ ...resolvePromptOptions(), tokenizer });
    expect(formatter.format(row({ messages: [user('Hi'), assistant('Hello')] })).text).toBe(
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    );
  });
});

describe('fillTemplate()', () => {
  test('inserts columns and turns double braces into single ones', () => {
    const columns = { question: '1 + 1? $& {a}', n: 2, ok: true };
    expect(fillTemplate('Q: {question}\n{{"n": {n}}} {ok}', row(columns))).toBe(
      'Q: 1 + 1? $& {a}\n{"n": 2} true',
    );
  });

  test.each([
    [
      '{quesion}',
      'Cannot fill the template from p.jsonl line 7: {quesion} must be one of its columns "question", "tags"; write literal braces as {{ and }}',
    ],
    [
      '{tags}',
      'Cannot fill the template from p.jsonl line 7: "tags" must be text or a number, got a list',
    ],
  ])('rejects %s', (template, message) => {
    expect(() => fillTemplate(template, row({ question: 'x', tags: [] }))).toThrow(message);
  });
});
