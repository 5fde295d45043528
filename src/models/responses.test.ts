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

test('packResponses() and stateRows() put observed tokens into the state only', () => {
  const observations = [{ at: 1, tokens: Int32Array.of(8, 9), text: '' }];
  const episodes = toResponses([a, b], [[4, 5], [6]], { observations: [observations, undefined] });
  expect([...episodes.tokens]).toEqual([4, 5, 6]);
  const batch = packResponses(episodes);
  expect([...batch.tokens]).toEqual([1, 2, 3, 4, 8, 9, 5, 6]);
  expect([...batch.positions]).toEqual([0, 1, 0, 2, 3, 4, 5, 1]);
  // Before 4: the prompt's last row; before 5: the row of 9.
  expect([...stateRows(batch, episodes)]).toEqual([1, 5, 2]);
});
