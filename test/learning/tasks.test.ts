import { expect, it } from 'vitest';
import { makeBase } from '../../bench/learning/base-model.ts';
import { endsInX, positiveWords, targetLength } from '../../bench/learning/tasks.ts';
import { makePrompts, vocabulary } from '../../bench/learning/words.ts';

it('endsInX() counts words that end in x, divided by 12', () => {
  expect(endsInX({ response: 'fox day ox' })).toBe(2 / 12);
  expect(endsInX({ response: '' })).toBe(0);
});

it('targetLength() is highest if the sixth token is the stop token', () => {
  const score = (length: number, finished = true) =>
    targetLength({ tokens: new Int32Array(length), finished });
  expect(score(6)).toBe(1);
  expect(score(4)).toBeCloseTo(2 / 3, 12);
  expect(score(12)).toBe(0);
  expect(score(6, false)).toBe(0);
});

it('positiveWords() is positive minus negative words, divided by 12', () => {
  expect(positiveWords({ response: 'good day bad good' })).toBe(1 / 12);
  expect(positiveWords({ response: 'cruel dark fox' })).toBe(-2 / 12);
});

it('prompts of training and validation are all different', () => {
  const { training, validation } = makePrompts(3, { training: 128, validation: 16 });
  expect([training.length, validation.length]).toEqual([128, 16]);
  expect(new Set([...training, ...validation]).size).toBe(144);
});

it('every word is a single token', () => {
  const { tokenizer } = makeBase(0);
  const ids = tokenizer.encode(vocabulary.join(' '));
  expect(new Set(ids).size).toBe(vocabulary.length);
  expect(tokenizer.decode(ids)).toBe(vocabulary.join(' '));
});
