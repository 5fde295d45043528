import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { type LoadPromptsOptions, loadPrompts } from './prompt-dataset.ts';
import { promptLimit } from './prompt-format.ts';
import type { RowSource } from './read-rows.ts';

/** A token for each word: the 3, a 4, cat 5, dog 6, sees 7, likes 8, and 9, runs 10, others 2. */
const load = async (source: RowSource, options: LoadPromptsOptions = {}) =>
  loadPrompts(source, await loadTokenizer(writeTinyTokenizer(makeTempFolder())), options);

const texts = (records: readonly { readonly text: string }[]) => records.map(({ text }) => text);
const nothingDropped = {
  ...{ dropped: 0, empty: 0, repeated: 0, droppedLongest: 0, examples: [] },
  ...{ truncated: 0, limit: undefined },
};

/** A tokenizer that starts texts with its BOS token, <eos>. */
async function loadWithBos(folder: string) {
  writeTinyTokenizer(folder);
  const edit = (name: string, change: object) => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
  };
  const single = [{ SpecialToken: { id: '<eos>' } }, { Sequence: { id: 'A' } }];
  edit('tokenizer.json', {
    post_processor: { type: 'TemplateProcessing', single, pair: [], special_tokens: {} },
  });
  edit('tokenizer_config.json', {
    bos_token: '<eos>',
    chat_template: '{{ bos_token }}{% for m in messages %}{{ m.content }} and {% endfor %}',
  });
  return loadTokenizer(folder);
}

describe('loadPrompts()', () => {
  test('returns text, tokens and the whole row', async () => {
    const rows = [{ prompt: 'the cat sees', answer: 'a dog' }];
    expect(await load(rows, { validationFraction: 0 })).toEqual({
      train: [{ text: 'the cat sees', tokens: Int32Array.of(3, 5, 7), row: rows[0] }],
      validation: [],
      report: { ...nothingDropped, kept: 1 },
    });
  });

  test('adds special tokens to plain text but not to chats', async () => {
    const folder = writeTinyTokenizer(makeTempFolder());
    const file = join(folder, 'tokenizer.json');
    const single = [{ SpecialToken: { id: '<eos>' } }, { Sequence: { id: 'A' } }];
    const post_processor = { type: 'TemplateProcessing', single, pair: [], special_tokens: {} };
    const tokenizer = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...tokenizer, post_processor }));
    const tokensOf = async (chat: boolean) =>
      (await loadPrompts(['a cat'], await loadTokenizer(folder), { chat })).train[0]?.tokens;
    expect(await tokensOf(false)).toEqual(Int32Array.of(1, 4, 5));
    // The template writes "a cat and ".
    expect(await tokensOf(true)).toEqual(Int32Array.of(4, 5, 9));
  });

  test('drops long and empty prompts and reports their positions', async () => {
    const source = [
      'a cat',
      'the cat sees a dog',
      ' ',
      'a dog runs',
      'the dog likes the cat and runs',
    ];
    const options = { validationFraction: 0, contextLength: 8, maxNewTokens: 5 };
    const { train, report } = await load(source, options);
    expect(texts(train)).toEqual(['a cat', 'a dog runs']);
    expect(report).toEqual({
      kept: 2,
      dropped: 3,
      empty: 1,
      repeated: 0,
      droppedLongest: 7,
      truncated: 0,
      limit: { maxTokens: 3, reason: "the model's context of 8 minus 5 for maxNewTokens" },
      examples: ['prompt 2', 'prompt 3', 'prompt 5'],
    });
  });

  test('keeps the last tokens of long prompts if truncatePrompts is left', async () => {
    const source = ['a cat', 'the cat sees a dog', ' ', 'the dog likes the cat and runs'];
    const limits = { validationFraction: 0, maxPromptTokens: 3, truncatePrompts: 'left' } as const;
    const { train, report } = await load(source, limits);
    expect(train.map(({ tokens }) => [...tokens])).toEqual([
      [4, 5],
      [7, 4, 6],
      [5, 9, 10],
    ]);
    expect(train[1]!.text.trim()).toBe('sees a dog');
    expect(report).toEqual({
      ...{ kept: 3, dropped: 1, empty: 1, repeated: 0, droppedLongest: 0, truncated: 2 },
      limit: { maxTokens: 3, reason: 'maxPromptTokens' },
      examples: ['prompt 3'],
    });
  });

  test('keeps a BOS token at the start of a truncated prompt if another token fits', async () => {
    const tokenizer = await loadWithBos(makeTempFolder());
    const truncate = async (maxPromptTokens: number, chat: boolean) => {
      const limits = { validationFraction: 0, truncatePrompts: 'left', maxPromptTokens } as const;
      const { train } = await loadPrompts(['the cat sees a dog'], tokenizer, { ...limits, chat });
      const { text, tokens } = train[0]!;
      // The text encodes to the same tokens, unless BOS was left out.
      if (maxPromptTokens > 1) {
        expect(tokenizer.encode(text, { addSpecialTokens: !chat })).toEqual(tokens);
      }
      return [...tokens];
    };
    expect(await truncate(3, false)).toEqual([1, 4, 6]);
    expect(await truncate(3, true)).toEqual([1, 6, 9]);
    expect(await truncate(1, false)).toEqual([6]);
  });

  test('stops reading once it has enough', async () => {
    const file = join(makeTempFolder(), 'p.jsonl');
    writeFileSync(file, '""\n"a"\n"the cat"\nbroken\n');
    const { train } = await load(file, { maxPrompts: 2, validationFraction: 0 });
    expect(texts(train)).toEqual(['a', 'the cat']);
  });

  test('splits off validation prompts by the seed', async () => {
    const source = Array.from({ length: 30 }, (_, i) => 'cat '.repeat(1 + (i % 20)));
    const { train, validation } = await load(source, { validationFraction: 0.25, seed: 3 });
    expect(new Set(texts(validation)).size).toBe(5);
    expect(train.length + validation.length).toBe(30);
    expect(texts(train).filter((text) => texts(validation).includes(text))).toEqual([]);
    const again = await load(source, { validationFraction: 0.25, seed: 3 });
    expect(texts(again.validation)).toEqual(texts(validation));
    const other = await load(source, { validationFraction: 0.25, seed: 4 });
    expect(texts(other.validation)).not.toEqual(texts(validation));
  });

  test('validates on a whole file and does not train on it', async () => {
    const validationFile = join(makeTempFolder(), 'v.txt');
    writeFileSync(validationFile, 'the cat\na dog\n');
    const { train, validation, report } = await load(['a cat', 'a dog', 'the dog'], {
      validationFile,
      validationFraction: 0.5,
    });
    expect(texts(train)).toEqual(['a cat', 'the dog']);
    expect(texts(validation)).toEqual(['the cat', 'a dog']);
    expect(report).toEqual({ ...nothingDropped, kept: 4, repeated: 1 });
    await expect(load(['a dog'], { validationFile })).rejects.toThrow(
      `Cannot train on these prompts: some must not be in the validation data ${validationFile}, got none; use different validation prompts`,
    );
  });

  test.each([
    [
      { maxPromptTokens: 2, contextLength: 100 },
      'Cannot use the prompts: prompts must have at most 2 tokens (maxPromptTokens), got 3 in the shortest of 2; raise it, shorten them, or set truncatePrompts to left',
    ],
    [
      { maxPromptTokens: 5, contextLength: 8, maxNewTokens: 6 },
      "Cannot use the prompts: prompts must have at most 2 tokens (the model's context of 8 minus 6 for maxNewTokens), got 3 in the shortest of 2; lower maxNewTokens, shorten them, or set truncatePrompts to left",
    ],
    [
      { contextLength: 8, maxNewTokens: 8 },
      "Cannot use prompts: maxNewTokens must be below the model's context of 8 tokens, got 8",
    ],
    [
      { validationSplit: 'test' },
      'Cannot use validationSplit "test": the prompts must be a hub dataset, because only these have splits; set validationFile instead',
    ],
    [
      { promptColum: 'a' },
      'Cannot use the prompt options: it has no "promptColum"; did you mean "promptColumn"?',
    ],
  ])('rejects %j', async (options: object, message) => {
    await expect(load(['the cat sees', 'a dog and a cat', ''], options)).rejects.toThrow(message);
  });

  test('rejects prompts that are all empty', async () => {
    await expect(load(['', ' '])).rejects.toThrow(
      'Cannot use the prompts: prompts must have text, got 2 empty ones; check promptColumn',
    );
  });
});

test('promptLimit() is the smaller of the two limits', () => {
  const limit = (maxPromptTokens: number | undefined, contextLength: number | undefined) =>
    promptLimit({ maxPromptTokens, contextLength, maxNewTokens: 50 }).maxTokens;
  expect(limit(512, 256)).toBe(206);
  expect(limit(100, 256)).toBe(100);
  expect(limit(100, undefined)).toBe(100);
  expect(limit(undefined, undefined)).toBe(Infinity);
});
