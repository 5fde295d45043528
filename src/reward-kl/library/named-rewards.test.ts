import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rewardSample, samplesOf } from '../../../test/helpers/reward-samples.ts';
import { makeNamedReward, namedRewards } from './named-rewards.ts';

describe('makeNamedReward()', () => {
  test('reads numbers, lists, choices and truth from text', () => {
    expect(samplesOf('a b c d').map(makeNamedReward('brevity', { target: '2' }))).toEqual([0.5]);
    const polite = makeNamedReward('keyword', { words: 'thank you|please' });
    expect(samplesOf('Thank you').map(polite)).toEqual([0.5]);
    const tokens = makeNamedReward('length', { target: '2', unit: 'tokens' });
    expect(samplesOf('abcd').map(tokens)).toEqual([0.5]);
    const block = samplesOf('```\n[]\n```');
    expect(block.map(makeNamedReward('json', { fenced: 'true' }))).toEqual([1]);
    expect(block.map(makeNamedReward('json', { fenced: 'false' }))).toEqual([0]);
  });

  test('reads columns by name', () => {
    const sample = rewardSample({ response: 'so 7', row: { label: 7, summary: 'So 7!' } });
    expect(makeNamedReward('numericAnswer', { answer: 'label', tolerance: '1e-3' })(sample)).toBe(
      1,
    );
    expect(makeNamedReward('rouge', { reference: 'summary', variant: 'rouge2' })(sample)).toBe(1);
  });

  test('reads a schema from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'proximal-schema-'));
    const file = join(folder, 'list.json');
    writeFileSync(file, '{ "type": "array" }');
    expect(samplesOf('[]', '{}').map(makeNamedReward('jsonSchema', { schema: file }))).toEqual([
      1, 0,
    ]);
    rmSync(folder, { recursive: true });
    expect(() => makeNamedReward('jsonSchema', { schema: file })).toThrow(
      /^Cannot use the reward jsonSchema: .*list\.json must be a JSON file with a schema \(ENOENT/,
    );
  });

  test('each is called as it is named', () => {
    const needed: Record<string, Record<string, string>> = {
      length: { target: '3' },
      keyword: { words: 'a' },
      regex: { pattern: 'a' },
      format: { tags: 'a' },
      rouge: { reference: 'a' },
      numericAnswer: { answer: 'a' },
    };
    const names = Object.keys(namedRewards).filter((name) => name !== 'jsonSchema');
    expect(names.map((name) => makeNamedReward(name, needed[name]).name)).toEqual(names);
  });

  test('an unknown name, option or value is one sentence', () => {
    expect(() => makeNamedReward('repetition-penaltie')).toThrow(
      /^Cannot use the reward repetition-penaltie: it must be one of brevity, .*; did you mean "repetitionPenalty"\?$/,
    );
    expect(() => makeNamedReward('constructor')).toThrow('it must be one of brevity, length');
    expect(() => makeNamedReward('brevity', { targt: '3' })).toThrow(
      'Cannot use the reward brevity: it has no "targt"; did you mean "target"?',
    );
    for (const text of ['', 'ten', '0x10', '1.5']) {
      expect(() => makeNamedReward('brevity', { target: text })).toThrow(
        /^Cannot use the reward brevity: target must be a whole number ≥ 1, got /,
      );
    }
    expect(() => makeNamedReward('json', { fenced: 'yes' })).toThrow(
      'Cannot use the reward json: fenced must be true or false, got "yes"',
    );
  });
});
