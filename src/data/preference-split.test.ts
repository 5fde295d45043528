import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { type LoadPreferencesOptions, loadPreferences } from './preference-dataset.ts';
import type { RowSource } from './read-rows.ts';

/** A token for each of eight words. */
const load = async (source: RowSource, options: LoadPreferencesOptions = {}) =>
  loadPreferences(source, await loadTokenizer(writeTinyTokenizer(makeTempFolder())), {
    validationFraction: 0,
    ...options,
  });

const words = ['the', 'a', 'cat', 'dog', 'sees', 'likes'];
const pair = (number: number) => ({
  prompt: `${words[number % 6]} ${words[Math.floor(number / 6)]}`,
  chosen: ' a',
  rejected: ' the',
});

describe('the split', () => {
  test('keeps a prompt on one side', async () => {
    const source = Array.from({ length: 60 }, (_, i) => ({
      ...pair(i % 20),
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

  test('takes prompts of a validation file out of those to train on', async () => {
    const validationFile = join(makeTempFolder(), 'v.jsonl');
    writeFileSync(validationFile, `${JSON.stringify(pair(1))}\n{"chosen":1}\n`);
    const { train, validation, report } = await load([pair(1), pair(2)], { validationFile });
    expect(train.map(({ promptText }) => promptText)).toEqual(['cat the']);
    expect(validation.map(({ promptText }) => promptText)).toEqual(['a the']);
    expect(report).toMatchObject({ read: 4, kept: 2, bad: 1, repeated: 1, pairs: 2 });
    await expect(load([pair(1)], { validationFile })).rejects.toThrow(
      `Cannot train on the rows: some prompts must not be in ${validationFile}, which is to validate on, got none`,
    );
  });

  test('comes after the first rows, where no more are wanted', async () => {
    const { train, report } = await load([pair(1), {}, pair(2), pair(3)], { maxRows: 2 });
    expect(train.map(({ origin }) => origin)).toEqual(['row 1', 'row 3']);
    expect(report).toMatchObject({ read: 3, kept: 2, bad: 1 });
  });
});
