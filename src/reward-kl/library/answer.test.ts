import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rewardSample } from '../../../test/helpers/reward-samples.ts';
import { findNumber, numericAnswer, rouge } from './answer.ts';

const score = (response: string, { answer = 1234.5 as unknown, tolerance = 0 } = {}) =>
  numericAnswer({ answer: 'answer', tolerance })(rewardSample({ response, row: { answer } }));

describe('numericAnswer', () => {
  test('is 1 if the final number is correct within the tolerance', () => {
    expect(score('#### 1,234.5')).toBe(1);
    expect(score('1234')).toBe(0);
    expect(score('1234', { tolerance: 0.5 })).toBe(1);
    expect(score('')).toBe(0);
  });

  test('accepts the exact tolerance despite rounding errors', () => {
    expect(score('0.4', { answer: 0.3, tolerance: 0.1 })).toBe(1);
    expect(score('0.41', { answer: 0.3, tolerance: 0.1 })).toBe(0);
  });

  test('finds the answer at the end of a worked solution', () => {
    expect(score('It is 72.', { answer: '48/2 = 24, 48 + 24 = 72\n#### 72' })).toBe(1);
    expect(score('It is 24.', { answer: '48/2 = 24, 48 + 24 = 72\n#### 72' })).toBe(0);
  });

  test('accepts a function', () => {
    const reward = numericAnswer({ answer: ({ prompt }) => prompt.length });
    expect(reward(rewardSample({ prompt: 'abc', response: 'It has 3.' }))).toBe(1);
  });

  test('throws for a column without a number', () => {
    expect(() => score('1', { answer: 'none' })).toThrow(
      'column "answer" of prompt 0 must be a number or a text with one, got "none"; its row has answer',
    );
  });
});

describe('findNumber()', () => {
  test.each<[string, number | undefined]>([
    ['It costs $1,234.50.', 1234.5],
    ['3 of 4, so 3/4', 0.75],
    ['no number', undefined],
    ['', undefined],
    ['#### -7 (not 8)', -7],
    ['#### 3\n#### $42', 42],
    ['#### **1,000**', 1000],
    ['#### Step 1\nthe answer is 5', 5],
    [String.raw`\boxed{\frac{1}{2}} as in step 3`, 0.5],
    [String.raw`\boxed{1}, no, \boxed{x = -2} at 9`, -2],
    ['1,2', 2],
    ['1,2345', 2345],
    ['12\u202f345', 12345],
    ['-3.5e2', -350],
    ['−5', -5],
    ['3-5', 5],
    ['(2)-5', 5],
    ['.5', 0.5],
    ['50%', 50],
    ['5km', 5],
    ['7 apples in H2O', 7],
    ['2024-05-06', 6],
    ['1e999', undefined],
    ['7, not 5/0', 7],
  ])('in %j is %d', (text, number) => {
    expect(findNumber(text)).toBe(number);
  });

  test('finds any number', () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(numbers, (x) => {
        expect(findNumber(`It is ${x}.`)).toBe(x === 0 ? 0 : x);
      }),
    );
  });

  test('accepts commas between thousands', () => {
    fc.assert(
      fc.property(fc.integer(), (x) => {
        expect(findNumber(`so ${x.toLocaleString('en-US')}`)).toBe(x);
      }),
    );
  });
});

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

  test.each(variants)('%s matches rouge-score', (variant) => {
    for (const { reference, response, ...scores } of cases) {
      const score = rouge({ variant, reference: () => reference })(rewardSample({ response }));
      expect(score, `${response} against ${reference}`).toBeCloseTo(scores[variant], 12);
    }
    expect(cases.length).toBeGreaterThan(40);
  });

  test('handles every script with letters: unicode', () => {
    const sample = rewardSample({ response: 'закрыто кафе', row: { text: 'Кафе закрыто' } });
    expect(rouge({ reference: 'text', variant: 'rouge1' })(sample)).toBe(0);
    expect(rouge({ reference: 'text', variant: 'rouge1', letters: 'unicode' })(sample)).toBe(1);
  });

  test('throws for a missing column and lists the existing ones', () => {
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

  test('requires a reference', () => {
    expect(() => rouge({} as never)).toThrow(
      'Cannot use the reward rouge: reference must be text that is not empty, got nothing',
    );
  });
});
