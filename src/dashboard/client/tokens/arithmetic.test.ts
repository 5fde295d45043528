import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from '../../../config/ppo-config.ts';
import { readArithmeticConfig, recompute } from './arithmetic.ts';
import { makeColumns } from './test-columns.ts';

const defaults = resolvePPOConfig();

describe('recompute()', () => {
  test('returns the hand-worked numbers of GAE', () => {
    expect(recompute(makeColumns(), defaults)).toEqual({
      errors: Float32Array.of(0, 0, 0.5),
      advantages: Float32Array.of(0.125, 0.25, 0.5),
      returns: Float32Array.of(0.625, 0.75, 1),
    });
  });

  test('after-final has one more step, whose value counts', () => {
    // δ = [0, 0, ½ − ½, 1 − ½]; A = [1/16, ⅛, ¼, ½]; G = A + ½.
    const columns = makeColumns({ rewards: [0, 0, 0, 1], values: [0.5, 0.5, 0.5, 0.5] });
    const { errors, advantages, returns } = recompute(columns, defaults);
    expect(errors).toEqual(Float32Array.of(0, 0, 0, 0.5));
    expect(advantages).toEqual(Float32Array.of(0.0625, 0.125, 0.25, 0.5));
    expect(returns).toEqual(Float32Array.of(0.5625, 0.625, 0.75, 1));
  });

  test('γ discounts the next value', () => {
    const columns = makeColumns({ gamma: 0.5, lambda: 1, rewards: [1, 2], values: [4, 2] });
    const { errors, advantages } = recompute(columns, defaults);
    expect(errors).toEqual(Float32Array.of(-2, 0));
    expect(advantages).toEqual(Float32Array.of(-2, 0));
  });

  test('the advantages of reinforce++ are rewards-to-go, without TD errors', () => {
    const columns = makeColumns({ gamma: 0.5, values: [0, 0, 0] });
    expect(recompute(columns, { advantageEstimator: 'reinforce++' })).toEqual({
      errors: undefined,
      advantages: Float32Array.of(0.25, 0.5, 1),
      returns: Float32Array.of(0.25, 0.5, 1),
    });
  });

  test.each(['rloo', 'grpo'] as const)(
    '%s has no advantages that follow from one response alone',
    (advantageEstimator) => {
      const { advantages, returns } = recompute(makeColumns(), { advantageEstimator });
      expect(advantages).toBeUndefined();
      expect(returns).toEqual(Float32Array.of(1, 1, 1));
    },
  );
});

describe('readArithmeticConfig()', () => {
  test('takes what the run recorded', () => {
    const recorded = { clipEpsilon: 0.3, clipEpsilonHigh: 0.4, dualClip: 3, klEstimator: 'k3' };
    expect(readArithmeticConfig(recorded, defaults)).toMatchObject(recorded);
  });

  test('takes the default of the schema for a missing or malformed setting', () => {
    const config = readArithmeticConfig({ advantageEstimator: 7, topK: 'all' }, defaults);
    expect(config).toMatchObject({ advantageEstimator: 'gae', clipEpsilon: 0.2, topP: 1 });
    expect([config.topK, config.clipEpsilonHigh]).toEqual([undefined, undefined]);
  });
});
