import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { combineScores } from './combine-scores.ts';

describe('combineScores()', () => {
  test('gives the hand-worked numbers', () => {
    const { scores, tokenScores, bySource } = combineScores(samplesOf('ab'), [
      { name: 'a', weight: 1, scores: [1] },
      { name: 'b', weight: 0.5, scores: [[2, 4]] },
    ]);
    expect([...scores]).toEqual([4]);
    expect([...tokenScores!]).toEqual([1, 2]);
    expect([...bySource].map(([name, own]) => [name, ...own])).toEqual([
      ['a', 1],
      ['b', 6],
    ]);
  });

  test('has no scores of tokens where no source gives any', () => {
    const source = { name: 'a', weight: -2, scores: [1, 3] };
    const { scores, tokenScores } = combineScores(samplesOf('ab', 'c'), [source]);
    expect([...scores]).toEqual([-2, -6]);
    expect(tokenScores).toBeUndefined();
  });

  test('a source may score the tokens of some samples only', () => {
    const scores = [[1, 2], 5, Float32Array.of(3)];
    const combined = combineScores(samplesOf('ab', 'cde', 'f'), [
      { name: 'a', weight: 1, scores },
      { name: 'b', weight: 10, scores: [[1, 1], 1, 1] },
    ]);
    expect([...combined.scores]).toEqual([23, 15, 13]);
    expect([...combined.tokenScores!]).toEqual([11, 12, 0, 0, 0, 3]);
  });
});
