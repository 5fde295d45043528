import { describe, expect, it, test } from 'vitest';
import {
  distinctPrompts,
  packResponses,
  selectResponses,
  stateRows,
  toResponses,
} from './responses.ts';

const [a, b] = [Int32Array.of(1, 2), Int32Array.of(3)];
const responses = toResponses([a, a, b], [[4], [5], [6, 7]]);

test('packResponses() puts each prompt once, before all responses', () => {
  const { rows, tokens, positions } = packResponses(responses);
  expect(rows.map((row) => [...row])).toEqual([
    [0, 1, 3],
    [0, 1, 4],
    [2, 5, 6],
  ]);
  expect([...tokens]).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect([...positions]).toEqual([0, 1, 0, 2, 2, 1, 2]);
});

test('distinctPrompts() returns prompts in the order of their rows', () => {
  expect(distinctPrompts(responses)).toEqual([a, b]);
});

test('selectResponses() keeps the given order', () => {
  const { sequences, offsets, tokens } = selectResponses(responses, [2, 0]);
  expect(sequences.map(({ promptTokens }) => promptTokens)).toEqual([b, a]);
  expect([...offsets]).toEqual([0, 2, 3]);
  expect([...tokens]).toEqual([6, 7, 4]);
});

describe('stateRows()', () => {
  const batch = { rows: [Int32Array.of(0, 1, 2, 3, 4), Int32Array.of(5, 6, 7)] };
  const states = toResponses(
    [
      [1, 2, 3],
      [4, 5],
    ],
    [[0, 0], [0]],
  );

  it('finds the state before each response token in the row of the token before it', () => {
    expect([...stateRows(batch, states)]).toEqual([2, 3, 6]);
  });

  it('includes the state after the last token if it is counted', () => {
    expect([...stateRows(batch, states, [3, 2])]).toEqual([2, 3, 4, 6, 7]);
  });
});
