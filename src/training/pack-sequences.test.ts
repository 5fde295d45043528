import { expect, test } from 'vitest';
import { distinctPrompts, packSequences } from './pack-sequences.ts';
import { responsesOf } from './responses.ts';

const [a, b] = [Int32Array.of(1, 2), Int32Array.of(3)];
const responses = responsesOf([a, a, b], [Int32Array.of(4), Int32Array.of(5), Int32Array.of(6, 7)]);

test('packSequences() lets each prompt stand once, before all responses', () => {
  const { rows, tokens, positions } = packSequences(responses);
  expect(rows.map((places) => [...places])).toEqual([
    [0, 1, 3],
    [0, 1, 4],
    [2, 5, 6],
  ]);
  expect([...tokens]).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect([...positions]).toEqual([0, 1, 0, 2, 2, 1, 2]);
});

test('distinctPrompts() come in the order of their rows', () => {
  expect(distinctPrompts(responses)).toEqual([a, b]);
});
