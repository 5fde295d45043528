import { describe, expect, test } from 'vitest';
import type { RopeConfig } from './decoder-config.ts';
import { inverseFrequencies, ropeTables } from './rope.ts';

const plain: RopeConfig = {
  rope_theta: 100,
  rope_type: 'default',
  factor: 1,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
};

function expectClose(actual: ArrayLike<number>, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, 7);
}

describe('inverseFrequencies()', () => {
  test('are powers of 1/θ, starting at 1', () => {
    expectClose(inverseFrequencies(plain, 4), [1, 0.1]);
    expectClose(inverseFrequencies({ ...plain, rope_theta: 10_000 }, 8), [1, 0.1, 0.01, 0.001]);
  });

  test('linear scaling divides every frequency by the factor', () => {
    const rope: RopeConfig = { ...plain, rope_type: 'linear', factor: 4 };
    expectClose(inverseFrequencies(rope, 4), [0.25, 0.025]);
  });

  describe('llama3 scaling', () => {
    // 40π tokens: a frequency f makes 20·f rotations in the original context.
    const rope: RopeConfig = {
      rope_theta: 10_000,
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 40 * Math.PI,
    };

    test('keeps high frequencies, divides low ones and blends between', () => {
      // Rotations 20, 2, 0.2, 0.02; the second is a third of the way from 1 to 4.
      const blended = (2 / 3) * (0.1 / 8) + (1 / 3) * 0.1;
      expectClose(inverseFrequencies(rope, 8), [1, blended, 0.01 / 8, 0.001 / 8]);
    });

    test('divides at the low bound and changes nothing at the high bound', () => {
      const second = (bounds: Partial<RopeConfig>) =>
        inverseFrequencies({ ...rope, ...bounds }, 8)[1];
      expect(second({ low_freq_factor: 2 })).toBeCloseTo(0.1 / 8, 7);
      expect(second({ high_freq_factor: 2 })).toBeCloseTo(0.1, 7);
    });

    test('changes nothing with a factor of 1', () => {
      expectClose(inverseFrequencies({ ...rope, factor: 1 }, 8), [1, 0.1, 0.01, 0.001]);
    });
  });
});

describe('ropeTables()', () => {
  test('are cos and sin of position × frequency, one row per token', () => {
    const { cos, sin } = ropeTables([3, 0], Float64Array.of(1, 0.1));
    expectClose(cos, [-0.9899925, 0.9553365, 1, 1]);
    expectClose(sin, [0.14112, 0.2955202, 0, 0]);
  });

  test('are exact at large positions', () => {
    // 131072 = 20860 rotations + 5.2787634 rad.
    const { cos, sin } = ropeTables([131_072], Float64Array.of(1));
    const rest = 131_072 - 20_860 * 2 * Math.PI;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(2 * Math.PI);
    expectClose(cos, [Math.cos(rest)]);
    expectClose(sin, [Math.sin(rest)]);
  });
});
