import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { experiences, numberedExperience } from '../../test/helpers/numbered-experience.ts';
import { byteLengthOf, checkExperience } from './experience-columns.ts';

test('byteLengthOf() gives the hand-worked number', () => {
  // 3 of the prompt, 2·2 offsets, 5·2 of tokens, 3·2 of steps, 1 score: 24 numbers of 4 bytes
  expect(byteLengthOf(numberedExperience([{ prompt: 3, tokens: 2 }]))).toBe(96);
});

test('byteLengthOf() counts 4 bytes for each number', () => {
  fc.assert(
    fc.property(experiences(), (experience) => {
      const { sequences, tokens, values, samplingLogprobs, entropies } = experience;
      const prompts = sequences.reduce((sum, { promptTokens }) => sum + promptTokens.length, 0);
      const tokenColumns = 5 + (samplingLogprobs ? 1 : 0) + (entropies ? 1 : 0);
      const numbers =
        prompts +
        2 * (sequences.length + 1) +
        tokenColumns * tokens.length +
        3 * values.length +
        sequences.length;
      expect(byteLengthOf(experience)).toBe(4 * numbers);
    }),
  );
});

test('byteLengthOf() counts a prompt that samples share once', () => {
  const experience = numberedExperience([
    { prompt: 3, tokens: 2 },
    { prompt: 3, tokens: 2 },
  ]);
  const { promptTokens } = experience.sequences[0]!;
  const sequences = experience.sequences.map((sequence) => ({ ...sequence, promptTokens }));
  expect(byteLengthOf(experience) - byteLengthOf({ ...experience, sequences })).toBe(12);
});

test('checkExperience() takes every ragged experience', () => {
  fc.assert(fc.property(experiences(), (experience) => checkExperience(experience)));
});

test.each([
  [{ values: new Float32Array(3) }, 'values must have 4 elements, one for each step, got 3'],
  [{ tokens: new Int32Array(2) }, 'tokens must have 3 elements, one for each token, got 2'],
  [{ entropies: new Float32Array(1) }, 'entropies must have 3 elements, one for each token, got 1'],
  [{ scores: new Float32Array(1) }, 'scores must have 2 elements, one for each sequence, got 1'],
  [{ offsets: Int32Array.of(0, 3) }, 'offsets must have 3 elements for 2 sequences, got 2'],
  [{ offsets: Int32Array.of(1, 2, 3) }, 'offsets must start at 0 and never fall, got 1 at 0'],
  [
    { stepOffsets: Int32Array.of(0, 5, 4) },
    'stepOffsets must start at 0 and never fall, got 4 at 2',
  ],
  [
    { stepOffsets: Int32Array.of(0, 1, 4) },
    'sequence 0 must have 2 steps, one for each token, or one more, got 1',
  ],
])('checkExperience() names the column that does not fit (%#)', (change, message) => {
  const experience = numberedExperience([
    { prompt: 1, tokens: 2 },
    { prompt: 1, tokens: 1, after: true },
  ]);
  expect(() => checkExperience({ ...experience, ...change })).toThrow(
    `Cannot store an experience: ${message}`,
  );
});
