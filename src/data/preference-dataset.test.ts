import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { type LoadPreferencesOptions, loadPreferences } from './preference-dataset.ts';
import type { RowSource } from './read-rows.ts';

/** A token for each word: the 3, a 4, cat 5, dog 6, sees 7, likes 8, and 9, runs 10;
 *  EOS is 1. Its chat template writes each message's content and ` and ` behind it. */
const load = async (source: RowSource, options: LoadPreferencesOptions = {}) =>
  loadPreferences(source, await loadTokenizer(writeTinyTokenizer(makeTempFolder())), {
    validationFraction: 0,
    ...options,
  });

/** What the only row of a source says. */
async function loadOne(row: Record<string, unknown>, options: LoadPreferencesOptions = {}) {
  const { train } = await load([row], options);
  expect(train).toHaveLength(1);
  return train[0]!;
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const pair = { prompt: 'a the', chosen: ' a', rejected: ' the' };

describe('loadPreferences() reads', () => {
  test('pairs with a prompt', async () => {
    const row = { prompt: 'the cat', chosen: ' sees a dog', rejected: ' runs', margin: 0.5 };
    const { train, validation, report } = await load([row]);
    const prompt = { promptText: 'the cat', promptTokens: Int32Array.of(3, 5) };
    expect(train).toEqual([
      {
        ...prompt,
        pairs: [
          {
            ...prompt,
            chosenText: ' sees a dog',
            rejectedText: ' runs',
            chosenTokens: Int32Array.of(7, 4, 6, 1),
            rejectedTokens: Int32Array.of(10, 1),
            margin: 0.5,
            target: 1,
            weight: 1,
          },
        ],
        ratings: [],
        origin: 'row 1',
      },
    ]);
    expect(validation).toEqual([]);
    expect(report).toEqual({
      ...{ read: 1, kept: 1, bad: 0, repeated: 0, reasons: {}, examples: [] },
      ...{ pairs: 1, ties: 0, ratings: 0 },
    });
  });

  test('pairs whose texts start with the prompt', async () => {
    const { folder } = tokenizerFolders.find(({ name }) => name === 'tiny-smollm')!;
    const tokenizer = await loadTokenizer(folder);
    const start = '\n\nHuman: cat\n\nAssistant:';
    const row = { chosen: `${start} a dog`, rejected: `${start} a cat` };
    const options = { appendEos: false };
    const { train } = await loadPreferences([row], tokenizer, options);
    const { promptText, chosenText, rejectedText, chosenTokens } = train[0]!.pairs[0]!;
    expect([promptText, chosenText, rejectedText]).toEqual([start, ' a dog', ' a cat']);
    expect(tokenizer.decode(chosenTokens)).toBe(' a dog');
    await expect(loadPreferences([row], tokenizer)).rejects.toThrow(
      'Cannot end completions: the tokenizer must have an EOS token, got none; name it in tokenizer_config.json, or set appendEos to false',
    );
  });

  test.each([
    [
      'answers to messages',
      { prompt: [user('cat')], chosen: [assistant('a')], rejected: [assistant('the')] },
    ],
    [
      'answers to a text',
      { prompt: 'cat', chosen: [assistant('a')], rejected: [assistant('the')] },
    ],
    ['texts to messages', { prompt: [user('cat')], chosen: 'a', rejected: 'the' }],
    [
      'conversations',
      { chosen: [user('cat'), assistant('a')], rejected: [user('cat'), assistant('the')] },
    ],
    [
      'conversations beside their prompt',
      {
        prompt: 'cat',
        chosen: [user('cat'), assistant('a')],
        rejected: [user('cat'), assistant('the')],
      },
    ],
  ])('%s', async (_, row) => {
    const { promptText, promptTokens, pairs } = await loadOne(row);
    expect(promptText).toBe('cat and ');
    expect(promptTokens).toEqual(Int32Array.of(5, 9));
    expect(pairs[0]).toMatchObject({
      chosenText: 'a and',
      rejectedText: 'the and',
      chosenTokens: Int32Array.of(4, 9, 1),
    });
  });

  test('texts as messages if chat is set', async () => {
    const options = { chat: true, systemPrompt: 'dog' };
    const { promptText, pairs } = await loadOne(pair, options);
    expect(promptText).toBe('dog and a the and ');
    expect(pairs[0]!.chosenText).toBe(' a and');
  });

  test.each([
    [{ label: 'tie' }, 0.5],
    [{ label: 'chosen' }, 1],
    [{ label: 0.8 }, 0.8],
    [{ label: '0.25' }, 0.25],
    [{ label: null }, 1],
  ])('the certainty of a preference: %j', async (label, target) => {
    const { pairs } = await loadOne({ ...pair, ...label });
    expect(pairs[0]!.target).toBe(target);
  });

  test('the best of three, and rankings with ties', async () => {
    const row = { prompt: 'cat', completions: [' a', ' the', ' runs'] };
    const told = async (more: object) =>
      (await loadOne({ ...row, ...more })).pairs.map(
        ({ chosenText, rejectedText, target, weight }) =>
          `${chosenText}${rejectedText} ${target} ${weight.toFixed(2)}`,
      );
    expect(await told({ best: 1 })).toEqual([' the a 1 0.50', ' the runs 1 0.50']);
    expect(await told({ ranking: [2, [0, 1]] })).toEqual([
      ' runs a 1 0.33',
      ' runs the 1 0.33',
      ' a the 0.5 0.33',
    ]);
  });

  test('ratings on a scale, also from CSV', async () => {
    const file = join(makeTempFolder(), 'r.csv');
    writeFileSync(file, 'prompt,completion,rating\ncat, a dog,4\ncat, runs,1\n');
    const { train, report } = await load(file, { ratingMin: 1, ratingMax: 5 });
    expect(train.map(({ ratings }) => ratings[0])).toEqual([
      {
        ...{ promptText: 'cat', text: ' a dog', promptTokens: Int32Array.of(5) },
        ...{ tokens: Int32Array.of(4, 6, 1), rating: 0.75 },
      },
      {
        ...{ promptText: 'cat', text: ' runs', promptTokens: Int32Array.of(5) },
        ...{ tokens: Int32Array.of(10, 1), rating: 0 },
      },
    ]);
    expect(report).toMatchObject({ kept: 2, pairs: 0, ratings: 2 });
  });

  test('custom column names and prompts from a template', async () => {
    const row = { q: 'cat', good: ' a', poor: ' the', prompt: 'no' };
    const columns = { chosenColumn: 'good', rejectedColumn: 'poor' };
    const named = await loadOne(row, { ...columns, promptColumn: 'q' });
    expect([named.promptText, named.pairs[0]!.chosenText]).toEqual(['cat', ' a']);
    expect((await loadOne(row, { ...columns, template: '{q} runs' })).promptText).toBe('cat runs');
  });

  test('the requested format if a row has two', async () => {
    const row = { ...pair, completions: [' a', ' the', ' runs'], best: 0 };
    expect((await loadOne(row)).pairs).toHaveLength(1);
    expect((await loadOne(row, { format: 'best' })).pairs).toHaveLength(2);
  });
});

const words = ['the', 'a', 'cat', 'dog', 'sees', 'likes'];
const numberedPair = (number: number) => ({
  prompt: `${words[number % 6]} ${words[Math.floor(number / 6)]}`,
  chosen: ' a',
  rejected: ' the',
});

describe('the split', () => {
  test('keeps a prompt on one side', async () => {
    const source = Array.from({ length: 60 }, (_, i) => ({
      ...numberedPair(i % 20),
      chosen: ' dog'.repeat(i + 1),
    }));
    const { train, validation, report } = await load(source, { validationFraction: 0.25, seed: 3 });
    const prompts = (side: typeof train) => side.map(({ promptText }) => promptText);
    expect(new Set(prompts(validation)).size).toBe(5);
    expect(prompts(train).filter((prompt) => prompts(validation).includes(prompt))).toEqual([]);
    expect([report.kept, train.length + validation.length]).toEqual([60, 60]);
    const again = await load(source, { validationFraction: 0.25, seed: 3 });
    expect(again.validation).toEqual(validation);
    const other = await load(source, { validationFraction: 0.25, seed: 4 });
    expect(prompts(other.validation)).not.toEqual(prompts(validation));
  });

  test('removes prompts of a validation file from the training data', async () => {
    const validationFile = join(makeTempFolder(), 'v.jsonl');
    writeFileSync(validationFile, `${JSON.stringify(numberedPair(1))}\n{"chosen":1}\n`);
    const { train, validation, report } = await load([numberedPair(1), numberedPair(2)], {
      validationFile,
    });
    expect(train.map(({ promptText }) => promptText)).toEqual(['cat the']);
    expect(validation.map(({ promptText }) => promptText)).toEqual(['a the']);
    expect(report).toMatchObject({ read: 4, kept: 2, bad: 1, repeated: 1, pairs: 2 });
    await expect(load([numberedPair(1)], { validationFile })).rejects.toThrow(
      `Cannot train on the rows: some prompts must not be in the validation data ${validationFile}, got none`,
    );
  });

  test('uses only the first maxRows rows', async () => {
    const { train, report } = await load([numberedPair(1), {}, numberedPair(2), numberedPair(3)], {
      maxRows: 2,
    });
    expect(train.map(({ origin }) => origin)).toEqual(['row 1', 'row 3']);
    expect(report).toMatchObject({ read: 3, kept: 2, bad: 1 });
  });
});
