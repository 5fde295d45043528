import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { checkScores } from './check-scores.ts';

const samples = samplesOf('ab', 'c', 'def');
const check = (answer: unknown) => checkScores(answer, { name: 'judge', samples });

describe('checkScores()', () => {
  test('takes numbers, and lists of a number for each token', () => {
    const answer = [1, [2], Float32Array.of(3, 4, 5)];
    expect(check(answer)).toEqual(answer);
    expect(check(Float32Array.of(1, 2, 3))).toEqual([1, 2, 3]);
  });

  test.each([
    [undefined, 'they must be a list of 3, got undefined'],
    [{ 0: 1, length: 1 }, 'they must be a list of 3, got a value of type object'],
    ['123', 'they must be a list of 3, got "123"'],
    [[1, 2], 'there must be 3, got 2'],
    [[1, 2, 3, 4], 'there must be 3, got 4'],
    [[1, Number.NaN, 3], 'that of sample 1 must be a finite number, got NaN'],
    [[1, 2, -Infinity], 'that of sample 2 must be a finite number, got -Infinity'],
    [[1, 2, 1e39], 'that of sample 2 must be a finite number, got 1e+39'],
    [['1', 2, 3], 'that of sample 0 must be a finite number, got "1"'],
    [[null, 2, 3], 'that of sample 0 must be a finite number, got null'],
    [[true, 2, 3], 'that of sample 0 must be a finite number, got a value of type boolean'],
    [[[1], 2, 3], 'that of sample 0 must be one number, or one for each of its 2 tokens, got 1'],
    [[1, 2, [3, 4, Number.NaN]], 'that of sample 2 must be a finite number at token 2, got NaN'],
    [[1, 2, [3, [4], 5]], 'that of sample 2 must be a finite number at token 1, got an array'],
  ])('refuses %j', (answer, fault) => {
    expect(() => check(answer)).toThrow(`Cannot use the scores of "judge": ${fault}`);
  });

  test('counts samples from the first that was asked for', () => {
    expect(() => checkScores([Number.NaN, 1, 1], { name: 'judge', samples, first: 16 })).toThrow(
      'that of sample 16 must be',
    );
  });
});
