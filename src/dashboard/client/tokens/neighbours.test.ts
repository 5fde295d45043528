import { expect, test } from 'vitest';
import type { SampleRow } from '../../api.ts';
import { neighboursOf } from './neighbours.ts';

const rowAt = (index: number, hasTokens: boolean): SampleRow => ({
  index,
  step: 1,
  promptIdx: 0,
  sample: 0,
  prompt: 'p',
  response: 'r',
  score: 1,
  kl: 0,
  length: 1,
  finished: true,
  hasTokens,
});

const rows = [rowAt(3, true), rowAt(4, false), rowAt(5, false), rowAt(6, true), rowAt(7, true)];

test('neighboursOf() passes over samples without tokens', () => {
  expect(neighboursOf(5, rows)).toEqual({ row: rows[2], previous: 3, next: 6 });
});

test('neighboursOf() has none beyond the ends, and no row that is not there', () => {
  expect(neighboursOf(3, rows).previous).toBeUndefined();
  expect(neighboursOf(7, rows).next).toBeUndefined();
  expect(neighboursOf(9, rows)).toEqual({ row: undefined, previous: 7, next: undefined });
});
