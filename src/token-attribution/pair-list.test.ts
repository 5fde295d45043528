import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  experiences,
  numberedExperience,
  sequenceRecord,
} from '../../test/helpers/numbered-experience.ts';
import { type PairColumns, PairList } from './pair-list.ts';
import type { Rollout } from './rollout.ts';

/** Two responses: " is red" with its stop token, and " no". */
const rollout: Rollout = {
  sequences: [
    {
      promptIdx: 4,
      sample: 0,
      promptText: 'The car',
      promptTokens: Int32Array.of(10, 11),
      text: ' is red',
      pieces: [' is', ' red', ''],
      finished: true,
    },
    {
      promptIdx: 5,
      sample: 0,
      promptText: 'Well?',
      promptTokens: Int32Array.of(12),
      text: ' no',
      pieces: [' no'],
      finished: false,
    },
  ],
  offsets: Int32Array.of(0, 3, 4),
  tokens: Int32Array.of(20, 21, 2, 22),
  logprobs: Float32Array.of(-1, -2, -3, -4),
  refLogprobs: Float32Array.of(-1.5, -1, -3, -4.25),
  kl: Float32Array.of(0.5, -1, 0, 0.25),
};

/** With a step after the last token of each response. */
const experience: PairColumns = {
  ...rollout,
  stepOffsets: Int32Array.of(0, 4, 6),
  values: Float32Array.of(0.5, 0.25, 1, 9, 2, 9),
  advantages: Float32Array.of(1, 2, 3, 4),
  returns: Float32Array.of(1.5, 2.25, 4, 8, 6, 8),
};

test('the text of a state contains what the environment inserted', () => {
  const [first, second] = rollout.sequences;
  const observations = [{ at: 2, tokens: Int32Array.of(90), text: ' [17]' }];
  const pairs = new PairList({ ...rollout, sequences: [{ ...first!, observations }, second!] });
  expect([0, 1, 2].map((t) => pairs.at(t)!.stateText)).toEqual([
    'The car',
    'The car is',
    'The car is red [17]',
  ]);
});

describe('PairList', () => {
  test('returns the pairs of an experience', () => {
    expect(JSON.parse(JSON.stringify(new PairList(experience).at(1)))).toEqual({
      stateText: 'The car is',
      actionToken: ' red',
      actionTokenId: 21,
      logprob: -2,
      refLogprob: -1,
      klDiv: -1,
      value: 0.25,
      advantage: 2,
      rewardToGo: 2.25,
      promptIdx: 4,
      step: 1,
    });
    expect(JSON.parse(JSON.stringify(new PairList(experience).at(3)))).toEqual({
      stateText: 'Well?',
      actionToken: ' no',
      actionTokenId: 22,
      logprob: -4,
      refLogprob: -4.25,
      klDiv: 0.25,
      value: 2,
      advantage: 4,
      rewardToGo: 6,
      promptIdx: 5,
      step: 0,
    });
  });

  test('a state contains the earlier actions; a stop token adds no text', () => {
    const pairs = [...new PairList(rollout)];
    expect(pairs.map(({ stateText, actionToken }) => [stateText, actionToken])).toEqual([
      ['The car', ' is'],
      ['The car is', ' red'],
      ['The car is red', ''],
      ['Well?', ' no'],
    ]);
  });

  test('has NaN for the missing columns of a rollout, and null in JSON', () => {
    const { value, advantage, rewardToGo } = new PairList(rollout).at(0)!;
    expect([value, advantage, rewardToGo]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    const json = JSON.parse(JSON.stringify(new PairList(rollout).at(0)));
    expect(json).toMatchObject({ value: null, advantage: null, rewardToGo: null });
  });

  test('at() counts negative indices from the end and is undefined outside', () => {
    const pairs = new PairList(rollout);
    expect(pairs.length).toBe(4);
    expect(pairs.at(-1)!.actionTokenId).toBe(22);
    for (const outside of [4, -5, 0.5]) expect(pairs.at(outside)).toBeUndefined();
  });

  test('ofSequence() returns the pairs of one sequence', () => {
    const pairs = new PairList(rollout).ofSequence(1);
    expect(pairs.length).toBe(1);
    expect([...pairs].map(({ actionTokenId }) => actionTokenId)).toEqual([22]);
    expect(pairs.at(-1)!.actionTokenId).toBe(22);
    expect(() => new PairList(rollout).ofSequence(2)).toThrow(
      'Cannot read pairs: the sequence must be a whole number below 2, got 2',
    );
  });

  test('at() and the iterator return every pair of ragged experiences with empty sequences', () => {
    fc.assert(
      fc.property(experiences(), (numbered) => {
        const pairs = new PairList(numbered);
        const expected = numbered.sequences.flatMap((sequence, i) => {
          const record = sequenceRecord(numbered, i);
          return record.tokens.map((actionTokenId, t) => ({
            stateText: sequence.promptText + sequence.pieces.slice(0, t).join(''),
            actionToken: sequence.pieces[t],
            actionTokenId,
            logprob: record.logprobs[t],
            refLogprob: record.refLogprobs[t],
            klDiv: record.kl[t],
            value: record.values[t],
            advantage: record.advantages[t],
            rewardToGo: record.returns[t],
            promptIdx: i,
            step: t,
          }));
        });
        expect(JSON.parse(JSON.stringify(pairs))).toEqual(expected);
        const picked = expected.map((_, i) => pairs.at(i));
        expect(JSON.parse(JSON.stringify(picked))).toEqual(expected);
        const bySequence = numbered.sequences.flatMap((_, i) => [...pairs.ofSequence(i)]);
        expect(JSON.parse(JSON.stringify(bySequence))).toEqual(expected);
      }),
    );
  });

  test('does not read text until it is accessed', () => {
    const sequence = { ...rollout.sequences[0]! };
    Object.defineProperty(sequence, 'pieces', {
      get: () => {
        throw new Error('pieces were read');
      },
    });
    const [pair] = new PairList({ ...rollout, sequences: [sequence, sequence] });
    expect(pair!.logprob).toBe(-1);
    expect(() => pair!.stateText).toThrow('pieces were read');
  });

  test('reads the current contents of the columns', () => {
    const columns = numberedExperience([{ prompt: 1, tokens: 1 }]);
    const pair = new PairList(columns).at(0)!;
    columns.logprobs[0] = -7;
    expect(pair.logprob).toBe(-7);
  });

  test('pairs print their fields', () => {
    expect(inspect(new PairList(experience).at(0))).toContain("stateText: 'The car'");
  });
});
