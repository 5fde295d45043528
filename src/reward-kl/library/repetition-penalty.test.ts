import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { repetitionPenalty } from './repetition-penalty.ts';

describe('repetitionPenalty', () => {
  test('is the part of runs that came before, below 0', () => {
    const samples = samplesOf('The cat, the cat, the', 'the cat sat', 'cat', '');
    expect(samples.map(repetitionPenalty({ n: 2 }))).toEqual([-0.5, 0, 0, 0]);
  });

  test('looks at three words by default', () => {
    expect(samplesOf('no no no no no').map(repetitionPenalty())).toEqual([1 / 3 - 1]);
  });
});
