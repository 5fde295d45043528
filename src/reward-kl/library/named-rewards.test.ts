import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rewardSample, samplesOf } from '../../../test/helpers/reward-samples.ts';
import { createNamedReward, hasPatterns, namedRewards, parseNamedReward } from './named-rewards.ts';

describe('createNamedReward()', () => {
  test('parses numbers, lists, choices and booleans', () => {
    expect(samplesOf('a b c d').map(createNamedReward('brevity', { target: '2' }))).toEqual([0.5]);
    const polite = createNamedReward('keyword', { words: 'thank you|please' });
    expect(samplesOf('Thank you').map(polite)).toEqual([0.5]);
    const tokens = createNamedReward('length', { target: '2', unit: 'tokens' });
    expect(samplesOf('abcd').map(tokens)).toEqual([0.5]);
    const block = samplesOf('```\n[]\n```');
    expect(block.map(createNamedReward('json', { fenced: 'true' }))).toEqual([1]);
    expect(block.map(createNamedReward('json', { fenced: 'false' }))).toEqual([0]);
  });

  test('accepts column names', () => {
    const sample = rewardSample({ response: 'so 7', row: { label: 7, summary: 'So 7!' } });
    expect(createNamedReward('numericAnswer', { answer: 'label', tolerance: '1e-3' })(sample)).toBe(
      1,
    );
    expect(createNamedReward('rouge', { reference: 'summary', variant: 'rouge2' })(sample)).toBe(1);
  });

  test('reads a schema from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'proximal-schema-'));
    const file = join(folder, 'list.json');
    writeFileSync(file, '{ "type": "array" }');
    expect(samplesOf('[]', '{}').map(createNamedReward('jsonSchema', { schema: file }))).toEqual([
      1, 0,
    ]);
    rmSync(folder, { recursive: true });
    expect(() => createNamedReward('jsonSchema', { schema: file })).toThrow(
      /^Cannot use the reward jsonSchema: .*list\.json must be a JSON file with a schema \(ENOENT/,
    );
  });

  test('returns functions with the names of the rewards', () => {
    const needed: Record<string, Record<string, string>> = {
      length: { target: '3' },
      keyword: { words: 'a' },
      regex: { pattern: 'a' },
      format: { tags: 'a' },
      rouge: { reference: 'a' },
      numericAnswer: { answer: 'a' },
    };
    const names = Object.keys(namedRewards).filter((name) => name !== 'jsonSchema');
    expect(names.map((name) => createNamedReward(name, needed[name]).name)).toEqual(names);
  });

  test('rejects an unknown name, option or value in one sentence', () => {
    expect(() => createNamedReward('repetition-penaltie')).toThrow(
      /^Cannot use the reward repetition-penaltie: it must be one of brevity, .*; did you mean "repetitionPenalty"\?$/,
    );
    expect(() => createNamedReward('constructor')).toThrow('it must be one of brevity, length');
    expect(() => createNamedReward('brevity', { targt: '3' })).toThrow(
      'Cannot use the reward brevity: it has no "targt"; did you mean "target"?',
    );
    for (const text of ['', 'ten', '0x10', '1.5']) {
      expect(() => createNamedReward('brevity', { target: text })).toThrow(
        /^Cannot use the reward brevity: target must be a whole number ≥ 1, got /,
      );
    }
    expect(() => createNamedReward('json', { fenced: 'yes' })).toThrow(
      'Cannot use the reward json: fenced must be true or false, got "yes"',
    );
  });
});

describe('parseNamedReward()', () => {
  test.each([
    ['flesch', { name: 'flesch', options: {}, weight: 1 }],
    ['flesch=0.5', { name: 'flesch', options: {}, weight: 0.5 }],
    ['brevity:20', { name: 'brevity', options: { target: '20' }, weight: 1 }],
    [
      'keyword:thank you|please,avoid=stupid,weight=2',
      { name: 'keyword', options: { words: 'thank you|please', avoid: 'stupid' }, weight: 2 },
    ],
    ['brevity:target=20', { name: 'brevity', options: { target: '20' }, weight: 1 }],
    ['brevity:target=20,weight=-0.5', { name: 'brevity', options: { target: '20' }, weight: -0.5 }],
    [
      String.raw`regex:pattern=^\d{1\,3}=$,flags=i`,
      { name: 'regex', options: { pattern: String.raw`^\d{1,3}=$`, flags: 'i' }, weight: 1 },
    ],
  ])('%s', (text, spec) => {
    expect(parseNamedReward(text)).toEqual(spec);
  });

  test('accepts any value with escaped commas', () => {
    const value = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\\'));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [x, y] = [a, b].map((text) => text.replaceAll(',', '\\,'));
        expect(parseNamedReward(`r:a=${x},b=${y}`).options).toEqual({ a, b });
      }),
    );
  });

  test('rejects an option without a value and a weight that is not a number', () => {
    for (const [text, part] of [
      ['flesch:20', '20'],
      ['brevity:target=20,words', 'words'],
    ]) {
      expect(() => parseNamedReward(text!)).toThrow(
        `Cannot use the reward ${text}: options must be option=value, separated by commas, got "${part}"`,
      );
    }
    for (const text of ['flesch=', 'flesch=much', 'flesch:weight=']) {
      expect(() => parseNamedReward(text)).toThrow(/: its weight must be a number, got "/);
    }
  });
});

test('the rewards that run regular expressions of the user are marked', () => {
  expect(Object.keys(namedRewards).filter(hasPatterns)).toEqual(['regex', 'jsonSchema']);
  expect(hasPatterns('constructor')).toBe(false);
});
