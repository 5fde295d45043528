import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../api.ts';
import { hidePaths, hidePathsIn, pickSamples } from './collect-report.ts';

const rows = (...indexes: number[]) => indexes.map((index) => ({ index }) as SampleRow);
const pick = (count: number, newest: number[], ...notable: number[][]) =>
  pickSamples(
    { newest: rows(...newest), notable: notable.map((list) => rows(...list)) },
    count,
  ).map(({ index }) => index);

test('half are the newest, the rest alternate between the other lists', () => {
  expect(pick(4, [9, 8, 7, 6], [0, 1], [5, 9])).toEqual([0, 5, 8, 9]);
});

test('no sample is picked twice, and the newest fill up missing ones', () => {
  expect(pick(4, [3, 2, 1, 0], [3, 2], [3])).toEqual([0, 1, 2, 3]);
  expect(pick(10, [1, 0], [0, 1])).toEqual([0, 1]);
});

test('picks none if none are wanted', () => {
  expect(pick(0, [1, 0], [0, 1])).toEqual([]);
});

describe('hidePaths()', () => {
  test.each([
    ['/home/me/data/prompts.jsonl', 'prompts.jsonl'],
    ['/home/my files/prompts.jsonl', 'prompts.jsonl'],
    ['model:/home/me/runs/rm=2', 'model:rm=2'],
    ['C:\\Users\\me\\p.txt', 'p.txt'],
    ['Saved /home/me/runs/a/checkpoints/checkpoint-000010.', 'Saved checkpoint-000010.'],
    ['Cannot read "/home/me/a.txt": (/etc/b/c)', 'Cannot read "a.txt": (c)'],
  ])('leaves the last name of the path in %j', (text, hidden) => {
    expect(hidePaths(text)).toBe(hidden);
  });

  test.each([
    ['https://me:secret@host/score?key=abc=2', 'https://host/score?…'],
    ['http://host:8080/score', 'http://host:8080/score'],
  ])('takes passwords and queries out of %j', (text, hidden) => {
    expect(hidePaths(text)).toBe(hidden);
  });

  test.each([
    'Qwen/Qwen3-0.6B',
    '/no_think {prompt}',
    'and/or/else',
    'runs/a',
    '{post}\n\nTL;DR:',
    '3/4 tokens/s',
  ])('leaves %j as it is', (text) => {
    expect(hidePaths(text)).toBe(text);
  });

  test('hidePathsIn() handles lists and objects and keeps numbers', () => {
    const config = { reward: ['/a/b/r.ts'], deep: { data: '/a/b.csv' }, seed: 0, none: null };
    expect(hidePathsIn(config)).toEqual({
      reward: ['r.ts'],
      deep: { data: 'b.csv' },
      seed: 0,
      none: null,
    });
  });
});
