import { expect, test } from 'vitest';
import { stackColumns } from './stack-columns.ts';

test('stackColumns() puts columns on top of each other, and keeps gaps', () => {
  expect(
    stackColumns([
      [1, 2, undefined],
      [3, null, 1],
      [5, 6, 1],
    ]),
  ).toEqual([
    [1, 2, undefined],
    [4, null, 1],
    [9, 8, 2],
  ]);
});
