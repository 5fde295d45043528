import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rewardSample } from '../../../test/helpers/reward-samples.ts';
import * as library from './index.ts';
import type { LibraryReward } from './library-reward.ts';
import { namedRewards } from './named-rewards.ts';

type Case = readonly [reward: LibraryReward, least: number, most: number];

const cases: Readonly<Record<string, readonly Case[]>> = {
  brevity: [
    [library.brevity({ target: 3 }), 0, 1],
    [library.brevity({ target: 3, unit: 'characters' }), 0, 1],
    [library.brevity({ target: 3, unit: 'tokens' }), 0, 1],
  ],
  length: [[library.length({ target: 5, tolerance: 2 }), 0, 1]],
  keyword: [[library.keyword({ words: ['a', 'é'], avoid: ['b'] }), -1, 1]],
  regex: [[library.regex({ pattern: '.{2}', flags: 'su' }), 0, 1]],
  format: [[library.format({ tags: ['a'], startsWith: '<', maxLines: 2 }), 0, 1]],
  repetitionPenalty: [[library.repetitionPenalty({ n: 2 }), -1, 0]],
  rouge: [
    [library.rouge({ reference: 'text', variant: 'rouge1' }), 0, 1],
    [library.rouge({ reference: 'text', variant: 'rouge2', letters: 'unicode' }), 0, 1],
    [library.rouge({ reference: 'text', letters: 'unicode' }), 0, 1],
  ],
  flesch: [[library.flesch(), 0, 1]],
  sentiment: [[library.sentiment(), -1, 1]],
  json: [[library.json({ fenced: true }), 0, 1]],
  jsonSchema: [[library.jsonSchema({ schema: { type: 'number' } }), 0, 1]],
  numericAnswer: [[library.numericAnswer({ answer: () => 1, tolerance: 1 }), 0, 1]],
};

const words = fc.constantFrom('a', 'b', 'é', 'good', 'bad', 'not', '<a>', '</a>', '1', '-2,000/3');
const spaces = fc.constantFrom(' ', '\n', '. ', ', ', '-', '');
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // Includes lone surrogates, which a truncated response may contain.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.array(fc.tuple(words, spaces)).map((pairs) => pairs.flat().join('')),
  fc.json(),
);

describe('library rewards', () => {
  test('are all covered here', () => {
    expect(Object.keys(cases)).toEqual(Object.keys(namedRewards));
  });

  for (const [name, rewards] of Object.entries(cases)) {
    test(`${name} stays in its range for any text and is deterministic`, () => {
      fc.assert(
        fc.property(texts, texts, (response, text) => {
          const tokens = new Int32Array(response.length);
          const sample = rewardSample({ response, tokens, row: { text } });
          for (const [reward, least, most] of rewards) {
            const score = reward(sample);
            expect(score).toBeGreaterThanOrEqual(least);
            expect(score).toBeLessThanOrEqual(most);
            expect(reward(sample)).toBe(score);
          }
        }),
      );
    });

    test(`${name} is 0 for an empty response`, () => {
      const empty = rewardSample({ response: '', tokens: new Int32Array(0), row: { text: '' } });
      for (const [reward] of rewards) expect(reward(empty)).toBe(0);
    });
  }
});
