import { afterEach, describe, expect, test, vi } from 'vitest';
import { qwen3Folder, readFixture } from '../../../test/fixtures/tokenizer/folders.ts';
import {
  type ChatMessage,
  ChatTemplate,
  type ChatTemplateOptions,
  formatTime,
} from './chat-template.ts';
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
  /** The result of our own template, or its error message. */
  readonly text?: string;
  readonly error?: string;
  /** Ids of the result of Qwen3's own template. */
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

  test.each(cases.filter(({ error }) => error !== undefined))('$name is rejected', (of) => {
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

  test('is the tool_use template if there is one and tools are passed', () => {
    const chat_template = [
      { name: 'default', template: 'plain' },
      { name: 'tool_use', template: 'tools' },
    ];
    const template = makeTemplate(undefined, { chat_template });
    expect(template.render(hello, {})).toBe('plain');
    expect(template.render(hello, { tools: [{}] })).toBe('tools');
  });

  test('receives the tokens by name, and nothing for missing ones', () => {
    const source = '{{ bos_token }}|{{ eos_token }}|{{ tools is none }}|{{ documents is none }}';
    const template = makeTemplate(source, {}, { eos_token: '</s>' });
    expect(template.render(hello, {})).toBe('|</s>|true|true');
  });

  test('supports range and the date', () => {
    vi.useFakeTimers({ now: new Date(2024, 6, 4, 9, 5) });
    const source =
      "{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 1, -2) %}{{ i }}{% endfor %} {{ strftime_now('%d %b %Y') }}";
    expect(makeTemplate(source).render(hello, {})).toBe('01253 04 Jul 2024');
  });

  test('is required', () => {
    expect(() => makeTemplate(undefined).render(hello, {})).toThrow(
      'Cannot apply the chat template: the tokenizer must have one, got none; add chat_template.jinja to its folder, or pass plain text',
    );
  });

  test('needs messages', () => {
    expect(() => makeTemplate('x').render([], {})).toThrow(
      'Cannot apply the chat template: there must be at least one message, got none',
    );
  });

  test('must be Jinja', () => {
    expect(() => makeTemplate('{% if %}').render(hello, {})).toThrow(
      /^Cannot apply the chat template: /,
    );
  });
});

describe('a template is stopped if it', () => {
  const steps = 'it must take at most 2,000,000 steps, got more; shorten its loops';
  const range = (got: string) =>
    `range() must have at most 100,000 values, got ${got}; shorten the loop`;
  const loop = '{% for i in range(10000) %}';
  const end = '{% endfor %}';
  const double = '{% set ns.x = ns.x + ns.x %}';
  test.each([
    ['has a huge range', '{% for i in range(1000000000) %}{% endfor %}', range('1,000,000,000')],
    ['has a range without end', '{{ range(0, 1, 0) }}', range('∞')],
    ['nests loops', `${loop.repeat(3)}${end.repeat(3)}`, steps],
    [
      'nests loops over a variable',
      `{% set all = range(90000) %}{% for a in all %}{% for b in all %}${end}${end}`,
      steps,
    ],
    [
      'filters in nested loops',
      `{% set all = range(90000) %}{% for a in all %}{% for b in all if b < 0 %}${end}${end}`,
      steps,
    ],
    [
      'doubles a list',
      `{% set ns = namespace(x=[1]) %}{% for i in range(40) %}${double}${end}`,
      steps,
    ],
    [
      'searches a long list often',
      `{% set all = range(100000) %}${loop}{{ -1 in all }}${end}`,
      steps,
    ],
    [
      'calls itself twice at every depth',
      '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}',
      steps,
    ],
  ])('%s', (_, source, problem) => {
    expect(() => makeTemplate(source).render(hello, {})).toThrow(
      new Error(`Cannot apply the chat template: ${problem}`),
    );
  });

  test('doubles a text', () => {
    const source = `{% set ns = namespace(x='x') %}{% for i in range(40) %}${double}${end}`;
    expect(() => makeTemplate(source).render(hello, {})).toThrow(
      /^Cannot apply the chat template: (it must take|Invalid string length)/,
    );
  });
});

test("Qwen3's template renders a conversation of 3,000 long messages", async () => {
  const tokenizer = await loadTokenizer(qwen3Folder);
  const content = 'word '.repeat(200);
  const messages = Array.from({ length: 3000 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content,
  }));
  expect(tokenizer.applyChatTemplate(messages).split(content.trim())).toHaveLength(3001);
});

const morning = new Date(2024, 6, 4, 9, 5, 7);

test.each([
  ['%d %b %Y', '04 Jul 2024'],
  ['%A, %B %d, %y', 'Thursday, July 04, 24'],
  ['%Y-%m-%dT%H:%M:%S', '2024-07-04T09:05:07'],
  ['%a %I:%M %p', 'Thu 09:05 AM'],
  ['100%% %Q', '100% %Q'],
])('formatTime() formats %s like Python', (format, expected) => {
  expect(formatTime(morning, format)).toBe(expected);
});

test('formatTime() supports 12-hour time', () => {
  const hours = [0, 11, 12, 23].map((hour) => formatTime(new Date(2024, 0, 1, hour), '%I%p'));
  expect(hours).toEqual(['12AM', '11AM', '12PM', '11PM']);
});
