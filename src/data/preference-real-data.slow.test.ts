import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tokenizerFolders } from '../../test/fixtures/tokenizer/folders.ts';
import { storiesFolder } from '../../test/helpers/model-fixtures.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { loadPreferences } from './preference-dataset.ts';
import { readRows } from './read-rows.ts';

const assets = fileURLToPath(new URL('../../../shared/assets', import.meta.url));
const file = join(assets, 'hh-rlhf/helpful-base.test.jsonl.gz');

const tinyFolder = tokenizerFolders.find(({ name }) => name === 'tiny-smollm')!.folder;

const absent = [file, storiesFolder].find((path) => !existsSync(path));
const title = `Anthropic HH${absent === undefined ? '' : ` (skipped: ${absent} is not there)`}`;

describe.skipIf(absent !== undefined)(title, { timeout: 60_000 }, () => {
  test('has 2354 pairs: 2348 are kept, and the report tells the other 6', async () => {
    // Its words are short and few, so that it is fast.
    const tokenizer = await loadTokenizer(tinyFolder);
    const options = { appendEos: false };
    const { train, validation, report } = await loadPreferences(file, tokenizer, options);
    const { examples, ...counts } = report;
    expect(counts).toEqual({
      ...{ read: 2354, kept: 2348, bad: 6, repeated: 0 },
      reasons: { 'empty-completion': 4, 'equal-sides': 2 },
      ...{ pairs: 2348, ties: 0, ratings: 0 },
    });
    expect(examples.map(({ origin }) => origin.replace(`${file} line `, ''))).toEqual([
      ...['121', '722', '741', '1215', '2169'],
    ]);
    const pairs = [...train, ...validation].flatMap((group) => group.pairs);
    const byText = new Map(pairs.map((pair) => [pair.promptText + pair.chosenText, pair]));
    let found = 0;
    for await (const { columns } of readRows(file)) {
      const pair = byText.get(columns.chosen as string);
      if (pair === undefined || pair.promptText + pair.rejectedText !== columns.rejected) continue;
      found++;
      expect(pair.promptText).toMatch(/\n\nAssistant:$/);
    }
    expect(found).toBe(2348);
  });

  test('is the same text after a tokenizer that puts spaces before words', async () => {
    const tokenizer = await loadTokenizer(storiesFolder);
    const options = { maxRows: 50, validationFraction: 0 };
    const { train } = await loadPreferences(file, tokenizer, options);
    for (const { pairs } of train) {
      const { promptText, chosenText, promptTokens, chosenTokens } = pairs[0]!;
      const tokens = [...promptTokens, ...chosenTokens];
      expect(tokenizer.decode(tokens, { skipSpecialTokens: true })).toBe(promptText + chosenText);
      expect(tokens).toEqual([...tokenizer.encode(promptText + chosenText), tokenizer.eosIds[0]]);
    }
  });
});
