import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

const assistant = (content: string) => ({ role: 'assistant', content });
const pair = { prompt: 'the cat', chosen: ' a', rejected: ' the' };

describe('loadPreferences() counts as bad', () => {
  const choice = { prompt: 'cat', completions: ['a', 'the'] };

  test.each<[string, object, string, LoadPreferencesOptions?]>([
    [
      'equal-sides',
      { ...pair, rejected: ' a' },
      'completions that are compared must differ, got the same twice',
    ],
    [
      'equal-sides',
      { chosen: 'one', rejected: 'one' },
      'completions that are compared must differ, got the same twice',
    ],
    [
      'equal-sides',
      { prompt: 'cat', completions: ['a', 'the', 'a'], best: 0 },
      'completions that are compared must differ, got the same at indices 0 and 2',
    ],
    [
      'missing-column',
      { prompt: 'cat', chosen: 'a' },
      'it must have "chosen" and "rejected", or "completions" and "best", or',
    ],
    [
      'missing-column',
      { ...choice, prompt: null, best: 0 },
      'it must have "prompt", got "prompt", "completions", "best"',
    ],
    ['missing-column', pair, 'it must have "completions" and "best", got', { format: 'best' }],
    [
      'wrong-type',
      { ...pair, chosen: 5 },
      '"chosen" must be text or a list of messages, got number',
    ],
    [
      'wrong-type',
      { ...pair, chosen: [assistant('a')] },
      '"rejected" must be a list of messages like "chosen", got string',
    ],
    ['wrong-type', { ...pair, margin: 'much' }, '"margin" must be a number, got "much"'],
    [
      'wrong-type',
      { ...choice, completions: 'a', best: 0 },
      '"completions" must be a list, got string',
    ],
    ['empty-prompt', { ...pair, prompt: ' ' }, 'its prompt must have text, got none'],
    ['empty-prompt', { chosen: 'Hello', rejected: 'Help' }, 'its prompt must have text, got none'],
    ['empty-completion', { ...pair, rejected: '\n' }, 'its completion must have text, got none'],
    ['out-of-range', { ...pair, margin: -1 }, '"margin" must be ≥ 0, got -1'],
    ['out-of-range', { ...pair, margin: 1, label: 'tie' }, '"margin" must be 0 in a tie, got 1'],
    [
      'out-of-range',
      { ...pair, label: 'bad' },
      '"label" must be "chosen", "tie" or a probability from 0 to 1, got "bad"; set labelColumn',
    ],
    [
      'out-of-range',
      { ...choice, best: 2 },
      '"best" must be the index of a completion, 0 to 1, got 2',
    ],
    [
      'out-of-range',
      { ...choice, completions: ['a'], best: 0 },
      '"completions" must have at least 2 completions, got 1',
    ],
    [
      'out-of-range',
      { ...choice, ranking: [0, 0] },
      '"ranking" must list the indices of all 2 completions from best to worst, 0 to 1, each once, got [0,0]',
    ],
    [
      'out-of-range',
      { ...choice, ranking: [0, 1, 1] },
      '"ranking" must list the indices of all 2 completions',
    ],
    [
      'out-of-range',
      { prompt: 'cat', completion: 'a', rating: 6 },
      '"rating" must be from 1 to 5, got 6',
      { ratingMin: 1, ratingMax: 5 },
    ],
    [
      'too-long',
      pair,
      'prompt and completion must have at most 3 tokens, got 4',
      { contextLength: 3 },
    ],
    [
      'too-long',
      pair,
      'prompt and completion must have at most 2 tokens, got 4',
      { contextLength: 3, maxTokens: 2 },
    ],
  ])('%s %j', async (reason, row, error, options = {}) => {
    await expect(load([row as Record<string, unknown>], options)).rejects.toThrow(
      `Cannot use the rows: at least one row must be valid, got 1 invalid (1 ${reason}); the first error is: Cannot read row 1: ${error}`,
    );
  });

  test('a system prompt without a chat; ratings without a scale are an error', async () => {
    await expect(load([pair], { systemPrompt: 'a' })).rejects.toThrow(
      'Cannot add a system prompt to row 1: it must be a chat, got plain text; set chat, or remove systemPrompt',
    );
    await expect(load([{ prompt: 'cat', completion: 'a', rating: 1 }])).rejects.toThrow(
      'Cannot read the rating of row 1: ratingMin and ratingMax must be set, such as 1 and 5, got neither',
    );
  });
});

describe('the report', () => {
  /** Eight lines, of which the first and the last are good. */
  function writeMixed(): string {
    const file = join(makeTempFolder(), 'p.jsonl');
    const lines = [
      JSON.stringify(pair),
      JSON.stringify({ chosen: 'cat a', rejected: 'cat the' }),
      JSON.stringify({ prompt: 'cat', chosen: 'a' }),
      '{"prompt":"cat",',
      JSON.stringify({ prompt: 'cat', completions: ['a', 'the'], best: 0 }),
      '17',
      Buffer.from([0x22, 0x61, 0xe4, 0x22]),
      JSON.stringify(pair),
    ];
    writeFileSync(
      file,
      Buffer.concat(
        lines.map((line) => Buffer.concat([Buffer.from(line as string), Buffer.from('\n')])),
      ),
    );
    return file;
  }

  test('lists each bad row with its position', async () => {
    const file = writeMixed();
    const { train, report } = await load(file);
    expect(train.map(({ origin }) => origin)).toEqual([`${file} line 1`, `${file} line 8`]);
    expect(report).toMatchObject({
      read: 8,
      kept: 2,
      bad: 6,
      reasons: { 'mixed-formats': 2, 'missing-column': 1, 'invalid-row': 2, 'invalid-utf8': 1 },
    });
    expect(report.examples.map(({ message }) => message.replaceAll(file, 'f'))).toEqual([
      'Cannot read f line 2: it must contain pairs of texts with a prompt like f line 1, got pairs of texts without a prompt; put different rows into separate files',
      'Cannot read f line 3: it must have "rejected", got "prompt", "chosen"',
      expect.stringMatching(/^Cannot read f line 4: it must be JSON \(/),
      'Cannot read f line 5: it must contain pairs of texts with a prompt like f line 1, got choices; put different rows into separate files',
      'Cannot read f line 6: it must be an object or a string, got number',
      'Cannot read f line 7: it must be UTF-8, got other bytes; convert it first (0xe4 is byte 3 of the line)',
    ]);
  });

  test('is not created if bad rows fail', async () => {
    const file = writeMixed();
    await expect(load(file, { onBadRow: 'fail' })).rejects.toThrow(
      `Cannot read ${file} line 2: it must contain pairs`,
    );
  });

  test('lists the first three rows per reason', async () => {
    const source = [pair, ...Array.from({ length: 9 }, () => ({ ...pair, rejected: ' a' }))];
    const { report } = await load(source);
    expect(report.reasons).toEqual({ 'equal-sides': 9 });
    expect(report.examples.map(({ origin }) => origin)).toEqual(['row 2', 'row 3', 'row 4']);
  });
});

test('a rating among pairs is a different format, with or without a scale', async () => {
  const rows = [pair, { prompt: 'cat', completion: ' a', rating: 4 }];
  const { report } = await load(rows);
  expect(report).toMatchObject({ kept: 1, bad: 1, reasons: { 'mixed-formats': 1 } });
});
