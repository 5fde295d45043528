import { describe, expect, test } from 'vitest';
import { makeColumns } from './test-columns.ts';
import { alternativeRows, toSAPair } from './token-details.tsx';

test('toSAPair() returns the state before the token and its numbers', () => {
  const columns = makeColumns({ prompt: 'a', texts: [' b', ' c', ''], ids: [4, 5, 2] });
  expect(toSAPair(columns, 1)).toEqual({
    stateText: 'a b',
    actionToken: ' c',
    actionTokenId: 5,
    logprob: -1,
    refLogprob: -1.5,
    klDiv: 0.5,
    value: 0.5,
    advantage: 0.25,
    rewardToGo: 0.75,
    promptIdx: 3,
    step: 1,
  });
});

describe('alternativeRows()', () => {
  const alternatives = [
    { ids: [7, 8], texts: ['x', 'y'], logprobs: [-0.5, -2] },
    { ids: [5, 9], texts: [' c', 'z'], logprobs: [-1, -3] },
  ];

  test('marks the chosen token among the most likely ones', () => {
    expect(alternativeRows(makeColumns({ alternatives }), 1)).toEqual([
      { id: 5, text: ' c', logprob: -1, isChosen: true },
      { id: 9, text: 'z', logprob: -3, isChosen: false },
    ]);
  });

  test('adds the chosen token if it is not among the most likely ones', () => {
    const rows = alternativeRows(makeColumns({ alternatives }), 0);
    expect(rows.map(({ id, isChosen }) => [id, isChosen])).toEqual([
      [7, false],
      [8, false],
      [4, true],
    ]);
    expect(rows[2]).toEqual({ id: 4, text: ' b', logprob: -1, isChosen: true });
  });

  test('shows only the chosen token if the run recorded no alternatives', () => {
    expect(alternativeRows(makeColumns(), 2)).toEqual([
      { id: 2, text: '', logprob: -1, isChosen: true },
    ]);
  });
});
