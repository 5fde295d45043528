import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  experiences,
  numberedExperience,
  sequenceRecord,
  sequenceRecords,
  sequenceShapes,
} from '../../test/helpers/numbered-experience.ts';
import { checkExperience } from './experience-columns.ts';
import { concatExperiences, selectSequences } from './select-sequences.ts';

const three = () =>
  numberedExperience([
    { prompt: 1, tokens: 2 },
    { prompt: 2, tokens: 1, after: true },
    { prompt: 1, tokens: 3, after: true },
  ]);

describe('selectSequences()', () => {
  test('selectSequences() gives the hand-worked offsets', () => {
    const selected = selectSequences(three(), [2, 0]);
    expect([...selected.offsets]).toEqual([0, 3, 5]);
    expect([...selected.stepOffsets]).toEqual([0, 4, 6]);
    expect([...selected.scores]).toEqual([three().scores[2], three().scores[0]]);
  });

  test('selectSequences() keeps every column of every sequence, repeated ones too', () => {
    const chosen = experiences(1).chain((experience) => {
      const index = fc.nat(experience.sequences.length - 1);
      return fc.tuple(fc.constant(experience), fc.array(index, { maxLength: 12 }));
    });
    fc.assert(
      fc.property(chosen, ([experience, indices]) => {
        const selected = selectSequences(experience, indices);
        checkExperience(selected);
        const wanted = indices.map((i) => sequenceRecord(experience, i));
        expect(sequenceRecords(selected)).toEqual(wanted);
      }),
    );
  });

  test('selectSequences() copies', () => {
    const experience = three();
    const selected = selectSequences(experience, [0]);
    const before = experience.logprobs[0];
    selected.logprobs.fill(-1);
    expect(experience.logprobs[0]).toBe(before);
  });

  test.each([3, -1, 0.5, Number.NaN])('selectSequences() refuses the index %d', (index) => {
    expect(() => selectSequences(three(), [0, index])).toThrow(
      `Cannot select sequences: indices must be whole numbers below 3, got ${index}`,
    );
  });
});

describe('concatExperiences()', () => {
  test('concatExperiences() keeps every column of every sequence', () => {
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

  test('concatExperiences() takes the logprobs where sampling had no others', () => {
    const filtered = numberedExperience([{ prompt: 1, tokens: 2 }], { samplingLogprobs: true });
    const plain = numberedExperience([{ prompt: 1, tokens: 1 }], { first: 100 });
    expect([...concatExperiences([filtered, plain]).samplingLogprobs!]).toEqual([
      ...filtered.samplingLogprobs!,
      ...plain.logprobs,
    ]);
    expect(concatExperiences([plain, plain]).samplingLogprobs).toBeUndefined();
  });

  test('concatExperiences() refuses entropies of some sequences only', () => {
    const one = numberedExperience([{ prompt: 1, tokens: 2 }], { entropies: true });
    expect(() => concatExperiences([one, three()])).toThrow(
      'Cannot join experiences: all sequences or none must have entropies, got 1 of 4; attribute all with the same recomputeLogprobs',
    );
  });

  test('concatExperiences() of nothing is an experience of no sequences', () => {
    const none = concatExperiences([]);
    checkExperience(none);
    expect(none.sequences).toEqual([]);
    expect([...none.offsets]).toEqual([0]);
  });
});
