import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endOf, stopIdOf, tokenLabel, tokenPieces } from './token-text.ts';

describe('tokenPieces()', () => {
  test.each([
    [' cat\n', ['·', 'cat', '↵\n']],
    ['a\t b', ['a', '⇥·', 'b']],
    ['\r\n\r', ['␍↵\n', '␍']],
    ['\u001b[1m', ['␛[1m']],
    ['', []],
  ])('of %j', (text, pieces) => {
    expect(tokenPieces(text).map((piece) => piece.text)).toEqual(pieces);
  });

  test('tokenPieces() loses no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(' ', '\t', '\n', 'a', '漢') }), (text) => {
        const back = tokenPieces(text)
          .map((piece) => piece.text.replaceAll('·', ' ').replaceAll('⇥', '\t').replaceAll('↵', ''))
          .join('');
        expect(back).toBe(text);
      }),
    );
  });
});

test('stopIdOf() is the last id of a finished response, if that has no text', () => {
  const columns = { ids: [5, 2], texts: ['a', ''] };
  expect(stopIdOf(columns, true)).toBe(2);
  expect(stopIdOf(columns, false)).toBeUndefined();
  expect(stopIdOf({ ids: [5], texts: ['a'] }, true)).toBeUndefined();
});

test('tokenLabel() shows the stop token, and tokens without text', () => {
  expect(tokenLabel({ id: 2, text: '' }, 2)).toBe('⏹');
  expect(tokenLabel({ id: 7, text: '' }, 2)).toBe('◌');
  expect(tokenLabel({ id: 7, text: ' a\n' }, 2)).toBe('·a↵');
});

test('endOf() cuts no character in two', () => {
  expect(endOf('abcdef', 3)).toBe('…def');
  expect(endOf('abc', 3)).toBe('abc');
  expect(endOf('ab🙂c', 2)).toBe('…c');
});
