import { expect, test } from 'vitest';
import { saPairOf } from './sa-pair-of.ts';
import { makeColumns } from './test-columns.ts';

test('saPairOf() gives the state before the token, and its numbers', () => {
  const columns = makeColumns({ prompt: 'a', texts: [' b', ' c', ''], ids: [4, 5, 2] });
  expect(saPairOf(columns, 1)).toEqual({
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
