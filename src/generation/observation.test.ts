import { describe, expect, it } from 'vitest';
import { countObserved, insertObservations, statePositions } from './observation.ts';

const observe = (at: number, ...tokens: number[]) => ({
  at,
  tokens: Int32Array.from(tokens),
  text: '',
});

describe('insertObservations()', () => {
  it('puts observations after the sampled tokens that precede them', () => {
    const whole = insertObservations(Int32Array.of(1, 2, 3), [observe(1, 7), observe(2, 8, 9)]);
    expect([...whole]).toEqual([1, 7, 2, 8, 9, 3]);
  });

  it('includes an observation after the last token and omits later ones', () => {
    const whole = insertObservations(Int32Array.of(1, 2), [observe(2, 8, 9), observe(3, 7)]);
    expect([...whole]).toEqual([1, 2, 8, 9]);
  });

  it('returns the tokens themselves without observations', () => {
    const tokens = Int32Array.of(1, 2);
    expect(insertObservations(tokens)).toBe(tokens);
  });
});

describe('statePositions()', () => {
  it('skips observed tokens except the last before an action', () => {
    // prompt end, a0, [o o] a1, a2, [o] a3: the state before a1 is at the second observed token.
    const positions = statePositions(4, [observe(1, 7, 8), observe(3, 9)]);
    expect([...positions]).toEqual([0, 3, 4, 6]);
  });

  it('counts the state after the last token', () => {
    expect([...statePositions(3, [observe(1, 7)])]).toEqual([0, 2, 3]);
  });
});

it('countObserved() adds the lengths of all observations', () => {
  expect(countObserved([observe(1, 7, 8), observe(3, 9)])).toBe(3);
  expect(countObserved()).toBe(0);
});
