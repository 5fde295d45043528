import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { storiesFolder } from '../../test/helpers/model-fixtures.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { loadPreferences } from './preference-dataset.ts';
import { loadPrompts } from './prompt-dataset.ts';
import { readRows } from './read-rows.ts';

const assets = fileURLToPath(new URL('../../../shared/assets', import.meta.url));
const preferences = join(assets, 'hh-rlhf/helpful-base.test.jsonl.gz');
const stories = join(assets, 'tinystories-sample/tinystories.txt');

const absent = [preferences, stories, storiesFolder].find((path) => !existsSync(path));
const title = absent === undefined ? 'real data' : `real data (skipped: ${absent} does not exist)`;

describe.skipIf(absent !== undefined)(title, { timeout: 60_000 }, () => {
  test('of Anthropic HH has 2354 pairs of dialogues', async () => {
    let count = 0;
    for await (const { columns, origin } of readRows(preferences)) {
      count++;
      expect(Object.keys(columns)).toEqual(['chosen', 'rejected']);
      expect(columns.chosen).toMatch(/^\n\nHuman: /);
      expect(origin).toBe(`${preferences} line ${count}`);
    }
    expect(count).toBe(2354);
  });

  test('of TinyStories yields prompts that fit the model trained on it', async () => {
    const tokenizer = await loadTokenizer(storiesFolder);
    const options = { contextLength: 256, maxNewTokens: 160, seed: 1 };
    const { train, validation, report } = await loadPrompts(stories, tokenizer, options);
    const all = [...train, ...validation];
    expect(report.kept).toBe(all.length);
    expect(report.dropped).toBeGreaterThan(0);
    expect(report.droppedLongest).toBeGreaterThan(96);
    expect(Math.max(...all.map(({ tokens }) => tokens.length))).toBeLessThanOrEqual(96);
    expect(all.every(({ tokens }) => tokens[0] === tokenizer.bosId)).toBe(true);
    for (const { text, tokens } of all.slice(0, 50)) {
      expect(tokenizer.decode(tokens, { skipSpecialTokens: true })).toBe(text);
    }
  });
});

const tinyFolder = tokenizerFolders.find(({ name }) => name === 'tiny-smollm')!.folder;

describe.skipIf(absent !== undefined)(`Anthropic HH in ${title}`, { timeout: 60_000 }, () => {
  test('has 2354 pairs: 2348 are kept and the report lists the other 6', async () => {
    // A small vocabulary, which is fast.
    const tokenizer = await loadTokenizer(tinyFolder);
    const options = { appendEos: false };
    const { train, validation, report } = await loadPreferences(preferences, tokenizer, options);
    const { examples, ...counts } = report;
    expect(counts).toEqual({
      ...{ read: 2354, kept: 2348, bad: 6, repeated: 0 },
      reasons: { 'empty-completion': 4, 'equal-sides': 2 },
      ...{ pairs: 2348, ties: 0, ratings: 0 },
    });
    expect(examples.map(({ origin }) => origin.replace(`${preferences} line `, ''))).toEqual([
      ...['121', '722', '741', '1215', '2169'],
    ]);
    const pairs = [...train, ...validation].flatMap((group) => group.pairs);
    const byText = new Map(pairs.map((pair) => [pair.promptText + pair.chosenText, pair]));
    let found = 0;
    for await (const { columns } of readRows(preferences)) {
      const pair = byText.get(columns.chosen as string);
      if (pair === undefined || pair.promptText + pair.rejectedText !== columns.rejected) continue;
      found++;
      expect(pair.promptText).toMatch(/\n\nAssistant:$/);
    }
    expect(found).toBe(2348);
  });

  test('is the same text with a tokenizer that adds spaces before words', async () => {
    const tokenizer = await loadTokenizer(storiesFolder);
    const options = { maxRows: 50, validationFraction: 0 };
    const { train } = await loadPreferences(preferences, tokenizer, options);
    for (const { pairs } of train) {
      const { promptText, chosenText, promptTokens, chosenTokens } = pairs[0]!;
      const tokens = [...promptTokens, ...chosenTokens];
      expect(tokenizer.decode(tokens, { skipSpecialTokens: true })).toBe(promptText + chosenText);
      expect(tokens).toEqual([...tokenizer.encode(promptText + chosenText), tokenizer.eosIds[0]]);
    }
  });
});
