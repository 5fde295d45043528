import { describe, expect, test } from 'vitest';
import { lengthBaseline } from './reward-run.ts';

/** Pairs by the lengths of their texts: chosen, rejected. */
const pairs = (lengths: readonly (readonly [number, number])[], target = 1) =>
  lengths.map(([chosen, rejected]) => ({
    chosen: new Int32Array(chosen),
    rejected: new Int32Array(rejected),
    target,
  }));

describe('lengthBaseline()', () => {
  test('applies the rule that wins more training pairs to validation', () => {
    const train = pairs([
      [1, 2],
      [1, 3],
      [4, 2],
    ] as const);
    const validation = pairs([
      [1, 2],
      [3, 2],
      [4, 2],
      [5, 2],
    ] as const);
    expect(lengthBaseline(train, validation)).toEqual({ winner: 'shorter', accuracy: 0.25 });
    expect(lengthBaseline(validation, train)).toEqual({ winner: 'longer', accuracy: 1 / 3 });
  });

  test('counts equal lengths as half and is undefined for ties alone', () => {
    const train = pairs([[2, 1]] as const);
    expect(lengthBaseline(train, pairs([[2, 2]] as const))?.accuracy).toBe(0.5);
    expect(lengthBaseline(train, pairs([[2, 1]] as const, 0.5))).toBeUndefined();
    expect(lengthBaseline(train, [])).toBeUndefined();
  });
});
