import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { requireOptional } from './require-optional.ts';
import { sentiment } from './sentiment.ts';

describe('sentiment', () => {
  test('is the mean valence of the words found, in fifths', () => {
    const responses = ['A good and friendly answer', 'GOOD food, terrible service', 'A table', ''];
    expect(samplesOf(...responses).map(sentiment())).toEqual([0.5, 0, 0, 0]);
  });

  test('a negation just before turns a word, unless the list knows the phrase', () => {
    const responses = ['It was never good', 'It isn’t terrible', 'It is not good'];
    expect(samplesOf(...responses).map(sentiment())).toEqual([-0.6, 0.6, -0.4]);
  });

  test("a word that objects have by themselves isn't in the list", () => {
    expect(samplesOf('constructor toString').map(sentiment())).toEqual([0]);
  });
});

describe('requireOptional()', () => {
  test('a package that is not there is named with the command that installs it', () => {
    expect(() => requireOptional('no-such-package/dist/x.js', { reward: 'sentiment' })).toThrow(
      'Cannot use the reward sentiment: it needs the package no-such-package, got none; run npm install no-such-package',
    );
  });
});
