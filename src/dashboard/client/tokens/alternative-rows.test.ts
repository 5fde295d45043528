import { expect, test } from 'vitest';
import { alternativeRows } from './alternative-rows.ts';
import { makeColumns } from './test-columns.ts';

const alternatives = [
  { ids: [7, 8], texts: ['x', 'y'], logprobs: [-0.5, -2] },
  { ids: [5, 9], texts: [' c', 'z'], logprobs: [-1, -3] },
];

test('alternativeRows() marks the chosen token among the likeliest', () => {
  expect(alternativeRows(makeColumns({ alternatives }), 1)).toEqual([
    { id: 5, text: ' c', logprob: -1, isChosen: true },
    { id: 9, text: 'z', logprob: -3, isChosen: false },
  ]);
});

test('alternativeRows() adds the chosen token where it is not among the likeliest', () => {
  const rows = alternativeRows(makeColumns({ alternatives }), 0);
  expect(rows.map(({ id, isChosen }) => [id, isChosen])).toEqual([
    [7, false],
    [8, false],
    [4, true],
  ]);
  expect(rows[2]).toEqual({ id: 4, text: ' b', logprob: -1, isChosen: true });
});

test('alternativeRows() of a run that wrote none down has the chosen token', () => {
  expect(alternativeRows(makeColumns(), 2)).toEqual([
    { id: 2, text: '', logprob: -1, isChosen: true },
  ]);
});
