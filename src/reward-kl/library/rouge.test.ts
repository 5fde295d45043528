import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rewardSample } from '../../../test/helpers/reward-samples.ts';
import { rouge } from './rouge.ts';

const variants = ['rouge1', 'rouge2', 'rougeL'] as const;
const golden = z.object({
  cases: z.array(
    z.object({
      reference: z.string(),
      response: z.string(),
      rouge1: z.number(),
      rouge2: z.number(),
      rougeL: z.number(),
    }),
  ),
});
const file = new URL('../../../test/fixtures/rewards/rouge.json', import.meta.url);
const { cases } = golden.parse(JSON.parse(readFileSync(file, 'utf8')));

describe('rouge', () => {
  test('is 2m/(a + b) of words, pairs and the longest common subsequence', () => {
    const sample = rewardSample({
      response: 'On the mat lay the cat',
      row: { summary: 'The cat sat on the mat.' },
    });
    const scores = variants.map((variant) => rouge({ variant, reference: 'summary' })(sample));
    expect(scores).toEqual([10 / 12, 6 / 10, 6 / 12]);
  });

  test.each(variants)('%s is what rouge-score gives', (variant) => {
    for (const { reference, response, ...scores } of cases) {
      const score = rouge({ variant, reference: () => reference })(rewardSample({ response }));
      expect(score, `${response} against ${reference}`).toBeCloseTo(scores[variant], 12);
    }
    expect(cases.length).toBeGreaterThan(40);
  });

  test('reads every script if told to', () => {
    const sample = rewardSample({ response: 'закрыто кафе', row: { text: 'Кафе закрыто' } });
    expect(rouge({ reference: 'text', variant: 'rouge1' })(sample)).toBe(0);
    expect(rouge({ reference: 'text', variant: 'rouge1', letters: 'unicode' })(sample)).toBe(1);
  });

  test('a column that is not there is an error with those that are', () => {
    const sample = rewardSample({ promptIdx: 3, row: { title: 'a', label: 1 } });
    expect(() => rouge({ reference: 'summary' })(sample)).toThrow(
      'column "summary" of prompt 3 must be text, got nothing; its row has title, label',
    );
    expect(() => rouge({ reference: 'label' })(sample)).toThrow(
      'column "label" of prompt 3 must be text, got 1; its row has title, label',
    );
    expect(() => rouge({ reference: () => 7 as never })(sample)).toThrow(
      'what the function returns for prompt 3 must be text, got 7',
    );
  });

  test('needs a reference', () => {
    expect(() => rouge({} as never)).toThrow(
      'Cannot use the reward rouge: reference must be text that is not empty, got undefined',
    );
  });
});
