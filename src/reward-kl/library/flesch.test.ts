import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { countSyllables } from './count-syllables.ts';
import { flesch } from './flesch.ts';

describe('countSyllables()', () => {
  test.each([
    ['the', 1],
    ['table', 2],
    ['whole', 1],
    ['makes', 1],
    ['boxes', 2],
    ['tables', 2],
    ['watches', 2],
    ['loved', 1],
    ['settled', 2],
    ['wanted', 2],
    ['committee', 3],
    ['proposal', 3],
    ['Reading', 2],
    ['rhythm', 1],
    ['café', 2],
    ['42', 1],
    ['天气', 1],
  ])('%s has %i', (word, count) => {
    expect(countSyllables(word)).toBe(count);
  });
});

describe('flesch', () => {
  test('is the reading ease in hundreds', () => {
    const [score] = samplesOf('The committee approved the proposal.').map(flesch());
    expect(score).toBeCloseTo((206.835 - 1.015 * 5 - (84.6 * 10) / 5) / 100, 12);
    expect(score).toBeCloseTo(0.3256, 12);
  });

  test('ends sentences at marks and line breaks, not inside numbers', () => {
    const shared = (206.835 - 1.015 * 5 - (84.6 * 10) / 5) / 100;
    const responses = [
      'The committee approved the proposal! "The committee approved the proposal?" ',
      'The committee approved the proposal\nThe committee approved the proposal',
    ];
    for (const score of samplesOf(...responses).map(flesch())) {
      expect(score).toBeCloseTo(shared, 12);
    }
    const [number] = samplesOf('The committee approved 3.14 proposals.').map(flesch());
    expect(number).toBeCloseTo((206.835 - 1.015 * 6 - (84.6 * 11) / 6) / 100, 12);
  });

  test('is clipped to 0 and 1, and 0 without words', () => {
    const responses = ['The cat sat on the mat.', 'Incomprehensibilities', '', '?!'];
    expect(samplesOf(...responses).map(flesch())).toEqual([1, 0, 0, 0]);
  });
});
