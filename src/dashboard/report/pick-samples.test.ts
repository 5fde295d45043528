import { expect, test } from 'vitest';
import type { SampleRow } from '../api.ts';
import { pickSamples } from './pick-samples.ts';

const rows = (...indexes: number[]) => indexes.map((index) => ({ index }) as SampleRow);
const pick = (count: number, newest: number[], ...telling: number[][]) =>
  pickSamples(
    { newest: rows(...newest), telling: telling.map((list) => rows(...list)) },
    count,
  ).map(({ index }) => index);

test('half are the newest, the rest come from the other lists in turn', () => {
  expect(pick(4, [9, 8, 7, 6], [0, 1], [5, 9])).toEqual([0, 5, 8, 9]);
});

test('no sample is picked twice, and the newest fill up what is missing', () => {
  expect(pick(4, [3, 2, 1, 0], [3, 2], [3])).toEqual([0, 1, 2, 3]);
  expect(pick(10, [1, 0], [0, 1])).toEqual([0, 1]);
});

test('none are picked where none are wanted', () => {
  expect(pick(0, [1, 0], [0, 1])).toEqual([]);
});
