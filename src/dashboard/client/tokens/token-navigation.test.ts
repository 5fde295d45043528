import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../../api.ts';
import { findNeighbours, tokenForKey } from './token-navigation.ts';

test.each([
  ['ArrowRight', 1, 2],
  ['ArrowRight', 4, 4],
  ['ArrowLeft', 0, 0],
  ['Home', 3, 0],
  ['End', 3, 4],
  ['a', 3, undefined],
])('%s from token %i of 5 moves to %s', (key, selected, token) => {
  expect(tokenForKey(key, { selected, count: 5 })).toBe(token);
});

describe('findNeighbours()', () => {
  const rowAt = (index: number, hasTokens: boolean): SampleRow => ({
    index,
    step: 1,
    promptIdx: 0,
    sample: 0,
    prompt: 'p',
    response: 'r',
    score: 1,
    sourceScores: null,
    kl: 0,
    length: 1,
    finished: true,
    turns: null,
    hasTokens,
  });
  const rows = [rowAt(3, true), rowAt(4, false), rowAt(5, false), rowAt(6, true), rowAt(7, true)];

  test('skips samples without tokens', () => {
    expect(findNeighbours(5, rows)).toEqual({ row: rows[2], previous: 3, next: 6 });
  });

  test('finds nothing beyond the ends, and no row for an unknown index', () => {
    expect(findNeighbours(3, rows).previous).toBeUndefined();
    expect(findNeighbours(7, rows).next).toBeUndefined();
    expect(findNeighbours(9, rows)).toEqual({ row: undefined, previous: 7, next: undefined });
  });
});
