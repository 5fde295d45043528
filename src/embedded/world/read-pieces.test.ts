import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOf } from './phrases.ts';
import { lexicon, readPieces } from './read-pieces.ts';
import { fillers, smallTalk, someone } from './templates.ts';

const symbols = (text: string) => readPieces(text).map(({ symbol }) => symbol);
const keys = (text: string) => readPieces(text).map(({ phrase }) => phrase && keyOf(phrase));
const phrases = Object.values(lexicon).flat();

describe('readPieces()', () => {
  test('readPieces() finds phrases in any case', () => {
    expect(symbols('Last Friday she broke my phone.')).toEqual(['<time>', 'she', '<event>', '.']);
  });

  test('readPieces() prefers the longest phrase', () => {
    expect(keys('two weeks ago')).toEqual(['time:two weeks ago']);
    expect(keys('two weeks')).toEqual(['duration:two weeks']);
    expect(symbols('two days')).toEqual(['two', 'days']);
  });

  test('readPieces() recognises every form of a phrase', () => {
    expect(keys('smashed my bike')).toEqual(['event:broke my bike']);
    expect(keys('on Monday')).toEqual(['time:last Monday']);
  });

  test('readPieces() matches no phrase inside a word', () => {
    expect(keys('friendship Annab $560')).toEqual([undefined, undefined, undefined]);
  });

  test('readPieces() loses nothing but spaces', () => {
    const words = phrases
      .flatMap(({ forms }) => forms)
      .concat('She', '.', ',', '\n', '12', 'ü', '🙂');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words)), (parts) => {
        const text = parts.join(' ');
        const read = readPieces(text).map((piece) => piece.text);
        expect(read.join('').replaceAll(' ', '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });
});

describe('the lexicon', () => {
  test('has one meaning per form', () => {
    const byForm = new Map<string, string>();
    for (const phrase of phrases) {
      for (const form of phrase.forms) {
        expect(byForm.get(form) ?? keyOf(phrase), form).toBe(keyOf(phrase));
        byForm.set(form, keyOf(phrase));
      }
    }
  });

  test('is parsed into its own phrases', () => {
    for (const phrase of phrases) {
      for (const form of phrase.forms) expect(keys(form)).toEqual([keyOf(phrase)]);
    }
  });

  test('contains no small talk', () => {
    for (const sentence of [...smallTalk, ...fillers.slice(0, -1), someone]) {
      expect(keys(sentence).filter(Boolean), sentence).toEqual([]);
    }
  });
});
