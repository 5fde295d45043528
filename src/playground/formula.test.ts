import { describe, expect, test } from 'vitest';
import { compileFormula } from './formula.ts';

const score = (formula: string, response: string) =>
  compileFormula(formula)({ prompt: 'a post', response, tokens: 7 });

describe('compileFormula()', () => {
  test('matches the worked example', () => {
    expect(score('has("please") - words / 20', 'Please call me')).toBeCloseTo(0.85, 12);
  });

  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['7 - 2 - 1', 4],
    ['8 / 4 / 2', 1],
    ['1 < 2 && 2 >= 2', 1],
    ['!(1 == 1) || 0', 0],
    ['words > 2 ? 10 : 20', 10],
    ['0 ? 1 : 0 ? 2 : 3', 3],
    ['max(1, 2, min(9, 5))', 5],
    ['abs(-3) + sqrt(16) + exp(0) + log(1)', 8],
    ['.5 + 1e-1 + 2.', 2.6],
    ['tokens', 7],
    ['characters', 25],
    ['sentences', 2],
    ['words', 5],
    ['unique', 4],
    ['count("the")', 2],
    ['starts("the cat") + ends("dog.")', 2],
  ])('computes %s', (formula, expected) => {
    expect(score(formula, ' The cat sat. The hot-dog.')).toBeCloseTo(expected, 12);
  });

  test.each([
    ['', 'it must not be empty, such as 1 - words / 20'],
    ['1 +', 'there must be a number, a name or ( at position 4, got its end'],
    ['(1', 'there must be ) at position 3, got its end'],
    ['1 2', 'there must be an operator at position 2, got "2"'],
    ['has(words)', 'there must be a text in quotes at position 5, got "words"'],
    ['constructor', 'names must be words, unique, characters, sentences, tokens'],
    ['x = 3', 'it must consist of numbers, names, "texts" and signs, got "= 3"'],
    ['('.repeat(100), 'it must have fewer nested parentheses'],
    ['-'.repeat(100), 'it must have fewer nested parentheses'],
    ['1'.repeat(501), 'it must have at most 500 characters, got 501'],
  ])('rejects %j', (formula, message) => {
    expect(() => compileFormula(formula)).toThrow(`Cannot read the formula: ${message}`);
  });

  test('rejects a score that is no number', () => {
    expect(() => score('1 / (words - 1)', 'One')).toThrow(
      'Cannot score with the formula: it must be a number for every response, got Infinity for "One"; avoid dividing by 0',
    );
  });
});
