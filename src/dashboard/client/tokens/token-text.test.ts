import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeColumns } from './test-columns.ts';
import {
  findStopId,
  lastCharacters,
  tokenLabel,
  tokenLook,
  tokenPieces,
  usedMarks,
} from './token-text.tsx';

describe('tokenPieces()', () => {
  test.each([
    [' cat\n', ['·', 'cat', '↵\n']],
    ['a\t b', ['a', '⇥·', 'b']],
    ['\r\n\r', ['␍↵\n', '␍']],
    ['\u001b[1m', ['␛[1m']],
    ['', []],
  ])('splits %j', (text, pieces) => {
    expect(tokenPieces(text).map((piece) => piece.text)).toEqual(pieces);
  });

  test('keeps every character', () => {
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

test('findStopId() returns the last id of a finished response if it has no text', () => {
  const columns = { ids: [5, 2], texts: ['a', ''] };
  expect(findStopId(columns, true)).toBe(2);
  expect(findStopId(columns, false)).toBeUndefined();
  expect(findStopId({ ids: [5], texts: ['a'] }, true)).toBeUndefined();
});

test('tokenLabel() shows signs for the stop token and tokens without text', () => {
  expect(tokenLabel({ id: 2, text: '' }, 2)).toBe('⏹');
  expect(tokenLabel({ id: 7, text: '' }, 2)).toBe('◌');
  expect(tokenLabel({ id: 7, text: '', name: '<pad>' }, 2)).toBe('<pad>');
  expect(tokenLabel({ id: 2, text: '', name: '<eos>' }, 2)).toBe('⏹');
  expect(tokenLabel({ id: 7, text: ' a\n' }, 2)).toBe('·a↵');
});

test('tokenLook() names a token without text by the alternatives at its position', () => {
  const alternatives = [
    { ids: [5, 7], texts: ['a', '<pad>'], logprobs: [-1, -2] },
    { ids: [7], texts: ['\ufffd'], logprobs: [-1] },
    { ids: [5], texts: ['a'], logprobs: [-1] },
  ];
  const columns = makeColumns({ ids: [7, 7, 7, 5], texts: ['', '', '', 'a'], alternatives });
  expect([0, 1, 2, 3].map((t) => tokenLook(columns, t))).toEqual([
    { id: 7, text: '', name: '<pad>' },
    { id: 7, text: '' },
    { id: 7, text: '' },
    { id: 5, text: 'a' },
  ]);
});

test('lastCharacters() never splits a character', () => {
  expect(lastCharacters('abcdef', 3)).toBe('…def');
  expect(lastCharacters('abc', 3)).toBe('abc');
  expect(lastCharacters('ab🙂c', 2)).toBe('…c');
});

test('usedMarks() explains the signs that occur', () => {
  const meanings = (texts: string[], hasStop: boolean) =>
    usedMarks(texts, hasStop).map(({ meaning }) => meaning);
  expect(meanings([' a', 'b\n', ''], true)).toEqual(['space', 'line break', 'end of the response']);
  expect(meanings(['a', ''], false)).toEqual(['no text of its own']);
  expect(meanings(['a'], false)).toEqual([]);
});
