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

function expectNoNaN(actual: ArrayLike<number>, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, 7);
}

describe('inverseFrequencies()', () => {
  test('are powers of 1/θ, from 1 on', () => {
    expectNoNaN(inverseFrequencies(plain, 4), [1, 0.1]);
    expectNoNaN(inverseFrequencies({ ...plain, rope_theta: 10_000 }, 8), [1, 0.1, 0.01, 0.001]);
  });

  test('linear scaling divides all by the factor', () => {
    const rope: RopeConfig = { ...plain, rope_type: 'linear', factor: 4 };
    expectNoNaN(inverseFrequencies(rope, 4), [0.25, 0.025]);
  });

  describe('llama3 scaling', () => {
    // 40π tokens: a frequency f makes 20·f turns in the original context.
    const rope: RopeConfig = {
      rope_theta: 10_000,
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 40 * Math.PI,
    };

    test('keeps many turns, blends between, divides few turns', () => {
      // Turns 20, 2, 0.2, 0.02; the second is a third of the way from 1 to 4.
      const blended = (2 / 3) * (0.1 / 8) + (1 / 3) * 0.1;
      expectNoNaN(inverseFrequencies(rope, 8), [1, blended, 0.01 / 8, 0.001 / 8]);
    });

    test('blends from divided at the low bound to kept at the high bound', () => {
      const second = (bounds: Partial<RopeConfig>) =>
        inverseFrequencies({ ...rope, ...bounds }, 8)[1];
      expect(second({ low_freq_factor: 2 })).toBeCloseTo(0.1 / 8, 7);
      expect(second({ high_freq_factor: 2 })).toBeCloseTo(0.1, 7);
    });

    test('changes nothing by a factor of 1', () => {
      expectNoNaN(inverseFrequencies({ ...rope, factor: 1 }, 8), [1, 0.1, 0.01, 0.001]);
    });
  });
});

describe('ropeTables()', () => {
  test('are cos and sin of position × frequency, a row for each token', () => {
    const { cos, sin } = ropeTables([3, 0], Float64Array.of(1, 0.1));
    expectNoNaN(cos, [-0.9899925, 0.9553365, 1, 1]);
    expectNoNaN(sin, [0.14112, 0.2955202, 0, 0]);
  });

  test('stay exact at distant positions', () => {
    // 131072 = 20860 turns + 5.2787634 rad.
    const { cos, sin } = ropeTables([131_072], Float64Array.of(1));
    const rest = 131_072 - 20_860 * 2 * Math.PI;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(2 * Math.PI);
    expectNoNaN(cos, [Math.cos(rest)]);
    expectNoNaN(sin, [Math.sin(rest)]);
  });
});
