import { afterEach, describe, expect, test, vi } from 'vitest';
import { qwen3Folder, readFixture } from '../../../test/fixtures/tokenizer/folders.ts';
import { type ChatMessage, ChatTemplate, type ChatTemplateOptions } from './chat-template.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import type { TokenizerConfig } from './tokenizer-files.ts';

interface Chat {
  readonly name: string;
  readonly messages: ChatMessage[];
  readonly tools?: object[];
  readonly add_generation_prompt?: boolean;
  readonly variables?: Record<string, unknown>;
}

interface Result {
  readonly name: string;
  /** What our own template gives, or the message it raises. */
  readonly text?: string;
  readonly error?: string;
  /** Ids of what Qwen3's own template gives. */
  readonly modelIds?: number[];
}

const { chats, ownOnly }: { chats: Chat[]; ownOnly: Chat[] } = JSON.parse(
  readFixture('chats.json'),
);
const golden: Result[] = JSON.parse(readFixture('goldens/qwen3.json')).chats;
const cases = [...chats, ...ownOnly].map((chat, i) => ({ ...chat, ...golden[i]! }));

function makeTemplate(chatTemplate: string | undefined, config: TokenizerConfig = {}, names = {}) {
  const tokenizer = { added_tokens: [], decoder: null, model: {} };
  const files = { tokenizer, config, model: {}, generation: {}, chatTemplate };
  return new ChatTemplate(files, names);
}

const optionsOf = ({ tools, variables, add_generation_prompt }: Chat): ChatTemplateOptions => ({
  ...(tools && { tools }),
  ...(variables && { variables }),
  ...(add_generation_prompt && { addGenerationPrompt: true }),
});

const hello = [{ role: 'user', content: 'Hi' }];

describe('applyChatTemplate() equals transformers', () => {
  const names = { eos_token: '<|im_end|>', pad_token: '<|endoftext|>' };
  const template = makeTemplate(readFixture('chat_template.jinja'), {}, names);

  test.each(cases.filter(({ text }) => text !== undefined))('$name', (of) => {
    expect(template.render(of.messages, optionsOf(of))).toBe(of.text);
  });

  test.each(cases.filter(({ error }) => error !== undefined))('$name is refused', (of) => {
    expect(() => template.render(of.messages, optionsOf(of))).toThrow(
      `Cannot apply the chat template: ${of.error}`,
    );
  });

  test("with Qwen3's own template", async () => {
    const tokenizer = await loadTokenizer(qwen3Folder);
    const known = cases.filter(({ modelIds }) => modelIds !== undefined);
    expect(known).toHaveLength(8);
    for (const of of known) {
      const text = tokenizer.applyChatTemplate(of.messages, optionsOf(of));
      expect([...tokenizer.encode(text, { addSpecialTokens: false })], of.name).toEqual(
        of.modelIds,
      );
    }
  });
});

describe('the template', () => {
  afterEach(() => vi.useRealTimers());

  test('comes from chat_template.jinja before tokenizer_config.json', () => {
    const config = { chat_template: 'config' };
    expect(makeTemplate('file', config).render(hello, {})).toBe('file');
    expect(makeTemplate(undefined, config).render(hello, {})).toBe('config');
  });

  test('is the one for tools if there is one and tools are given', () => {
    const chat_template = [
      { name: 'default', template: 'plain' },
      { name: 'tool_use', template: 'tools' },
    ];
    const template = makeTemplate(undefined, { chat_template });
    expect(template.render(hello, {})).toBe('plain');
    expect(template.render(hello, { tools: [{}] })).toBe('tools');
  });

  test('gets the tokens by name, and none for what is not there', () => {
    const source = '{{ bos_token }}|{{ eos_token }}|{{ tools is none }}|{{ documents is none }}';
    const template = makeTemplate(source, {}, { eos_token: '</s>' });
    expect(template.render(hello, {})).toBe('|</s>|true|true');
  });

  test('knows range and the day', () => {
    vi.useFakeTimers({ now: new Date(2024, 6, 4, 9, 5) });
    const source =
      "{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 1, -2) %}{{ i }}{% endfor %} {{ strftime_now('%d %b %Y') }}";
    expect(makeTemplate(source).render(hello, {})).toBe('01253 04 Jul 2024');
  });

  test('must be there', () => {
    expect(() => makeTemplate(undefined).render(hello, {})).toThrow(
      'Cannot apply the chat template: the tokenizer must have one, got none; add chat_template.jinja to its folder, or pass plain text',
    );
  });

  test('must get messages', () => {
    expect(() => makeTemplate('x').render([], {})).toThrow(
      'Cannot apply the chat template: it must get messages, got none',
    );
  });

  test('must be Jinja', () => {
    expect(() => makeTemplate('{% if %}').render(hello, {})).toThrow(
      /^Cannot apply the chat template: /,
    );
  });
});
