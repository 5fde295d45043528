import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { storiesFolder } from '../../test/helpers/model-fixtures.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { loadPrompts } from './prompt-dataset.ts';
import { readRows } from './read-rows.ts';

const assets = fileURLToPath(new URL('../../../shared/assets', import.meta.url));
const preferences = join(assets, 'hh-rlhf/helpful-base.test.jsonl.gz');
const stories = join(assets, 'tinystories-sample/tinystories.txt');

const absent = [preferences, stories, storiesFolder].find((path) => !existsSync(path));
const title = absent === undefined ? 'real data' : `real data (skipped: ${absent} is not there)`;

describe.skipIf(absent !== undefined)(title, () => {
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

  test('of TinyStories gives prompts that fit the model that was trained on it', async () => {
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
