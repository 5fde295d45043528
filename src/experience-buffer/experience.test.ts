import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  experiences,
  numberedExperience,
  sequenceRecord,
  sequenceRecords,
  sequenceShapes,
} from '../../test/helpers/numbered-experience.ts';
import {
  byteLengthOf,
  checkExperience,
  concatExperiences,
  restoreExperience,
  saveExperience,
  selectSequences,
} from './experience.ts';

test('byteLengthOf() matches the worked example', () => {
  // 3 for the prompt, 2·2 offsets, 5·2 per token, 3·2 per step, 1 score: 24 numbers of 4 bytes
  expect(byteLengthOf(numberedExperience([{ prompt: 3, tokens: 2 }]))).toBe(96);
});

test('byteLengthOf() counts 4 bytes per number', () => {
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

test('byteLengthOf() counts a shared prompt once', () => {
  const experience = numberedExperience([
    { prompt: 3, tokens: 2 },
    { prompt: 3, tokens: 2 },
  ]);
  const { promptTokens } = experience.sequences[0]!;
  const sequences = experience.sequences.map((sequence) => ({ ...sequence, promptTokens }));
  expect(byteLengthOf(experience) - byteLengthOf({ ...experience, sequences })).toBe(12);
});

test('checkExperience() accepts every ragged experience', () => {
  fc.assert(fc.property(experiences(), (experience) => checkExperience(experience)));
});

test.each([
  [{ values: new Float32Array(3) }, 'values must have 4 elements, one per step, got 3'],
  [{ tokens: new Int32Array(2) }, 'tokens must have 3 elements, one per token, got 2'],
  [{ entropies: new Float32Array(1) }, 'entropies must have 3 elements, one per token, got 1'],
  [{ scores: new Float32Array(1) }, 'scores must have 2 elements, one per sequence, got 1'],
  [{ offsets: Int32Array.of(0, 3) }, 'offsets must have 3 elements for 2 sequences, got 2'],
  [{ offsets: Int32Array.of(1, 2, 3) }, 'offsets must start at 0 and never decrease, got 1 at 0'],
  [
    { stepOffsets: Int32Array.of(0, 5, 4) },
    'stepOffsets must start at 0 and never decrease, got 4 at 2',
  ],
  [
    { stepOffsets: Int32Array.of(0, 1, 4) },
    'sequence 0 must have 2 steps, one per token, or one more, got 1',
  ],
])('checkExperience() names the inconsistent column (%#)', (change, message) => {
  const experience = numberedExperience([
    { prompt: 1, tokens: 2 },
    { prompt: 1, tokens: 1, after: true },
  ]);
  expect(() => checkExperience({ ...experience, ...change })).toThrow(
    `Cannot store an experience: ${message}`,
  );
});

const three = () =>
  numberedExperience([
    { prompt: 1, tokens: 2 },
    { prompt: 2, tokens: 1, after: true },
    { prompt: 1, tokens: 3, after: true },
  ]);

describe('selectSequences()', () => {
  test('matches the worked example', () => {
    const selected = selectSequences(three(), [2, 0]);
    expect([...selected.offsets]).toEqual([0, 3, 5]);
    expect([...selected.stepOffsets]).toEqual([0, 4, 6]);
    expect([...selected.scores]).toEqual([three().scores[2], three().scores[0]]);
  });

  test('keeps every column of every sequence, repeated or not', () => {
    const chosen = experiences(1).chain((experience) => {
      const index = fc.nat(experience.sequences.length - 1);
      return fc.tuple(fc.constant(experience), fc.array(index, { maxLength: 12 }));
    });
    fc.assert(
      fc.property(chosen, ([experience, indices]) => {
        const selected = selectSequences(experience, indices);
        checkExperience(selected);
        const expected = indices.map((i) => sequenceRecord(experience, i));
        expect(sequenceRecords(selected)).toEqual(expected);
      }),
    );
  });

  test('copies', () => {
    const experience = three();
    const selected = selectSequences(experience, [0]);
    const before = experience.logprobs[0];
    selected.logprobs.fill(-1);
    expect(experience.logprobs[0]).toBe(before);
  });

  test.each([3, -1, 0.5, Number.NaN])('rejects the index %d', (index) => {
    expect(() => selectSequences(three(), [0, index])).toThrow(
      `Cannot select sequences: indices must be whole numbers below 3, got ${index}`,
    );
  });
});

describe('concatExperiences()', () => {
  test('keeps every column of every sequence', () => {
    const shapes = fc.array(sequenceShapes(), { maxLength: 4 });
    fc.assert(
      fc.property(shapes, fc.boolean(), fc.boolean(), (parts, samplingLogprobs, entropies) => {
        const options = { samplingLogprobs, entropies };
        const all = parts.map((of, k) => numberedExperience(of, { ...options, first: 1000 * k }));
        const joined = concatExperiences(all);
        checkExperience(joined);
        expect(sequenceRecords(joined)).toEqual(all.flatMap(sequenceRecords));
      }),
    );
  });

  test('uses the logprobs if an experience has no sampling logprobs', () => {
    const filtered = numberedExperience([{ prompt: 1, tokens: 2 }], { samplingLogprobs: true });
    const plain = numberedExperience([{ prompt: 1, tokens: 1 }], { first: 100 });
    expect([...concatExperiences([filtered, plain]).samplingLogprobs!]).toEqual([
      ...filtered.samplingLogprobs!,
      ...plain.logprobs,
    ]);
    expect(concatExperiences([plain, plain]).samplingLogprobs).toBeUndefined();
  });

  test('rejects entropies of only some sequences', () => {
    const one = numberedExperience([{ prompt: 1, tokens: 2 }], { entropies: true });
    expect(() => concatExperiences([one, three()])).toThrow(
      'Cannot join experiences: all sequences or none must have entropies, got 1 of 4; attribute all with the same recomputeLogprobs',
    );
  });

  test('of nothing is an experience without sequences', () => {
    const none = concatExperiences([]);
    checkExperience(none);
    expect(none.sequences).toEqual([]);
    expect([...none.offsets]).toEqual([0]);
  });
});

describe('restoreExperience()', () => {
  test('restores what the environment inserted', () => {
    const numbered = numberedExperience([{ prompt: 2, tokens: 3 }]);
    const observations = [{ at: 1, tokens: Int32Array.of(7, 8), text: 'seven' }];
    const sequences = numbered.sequences.map((sequence) => ({ ...sequence, observations }));
    const episode = { ...numbered, sequences };
    const saved = JSON.parse(JSON.stringify(saveExperience(episode)));
    expect(restoreExperience(saved)).toEqual(episode);
    expect(byteLengthOf(episode)).toBe(byteLengthOf(numbered) + 2 * 4);
  });

  test('restores exactly what saveExperience() wrote as JSON', () => {
    fc.assert(
      fc.property(experiences(), (experience) => {
        const logprobs = experience.logprobs.map((x) => Math.log(x + 0.1));
        const saved = saveExperience({ ...experience, logprobs });
        const restored = restoreExperience(JSON.parse(JSON.stringify(saved)));
        expect(restored).toEqual({ ...experience, logprobs });
      }),
    );
  });

  test('shares the tokens of a prompt among its samples', () => {
    const experience = three();
    const sequences = experience.sequences.map((one) => ({
      ...experience.sequences[0]!,
      sample: one.promptIdx,
    }));
    const restored = restoreExperience(saveExperience({ ...experience, sequences }));
    const prompts = restored.sequences.map(({ promptTokens }) => promptTokens);
    expect(prompts[1]).toBe(prompts[0]);
    expect(prompts[2]).toBe(prompts[0]);
  });

  test('rejects other data', () => {
    expect(() => restoreExperience({ sequences: [] })).toThrow(
      'Cannot restore an experience: it must be as saveExperience() returns it, got offsets: ',
    );
    const saved = saveExperience(three());
    expect(() => restoreExperience({ ...saved, tokens: [1] })).toThrow(
      'tokens must have 6 elements, one per token, got 1',
    );
  });
});
