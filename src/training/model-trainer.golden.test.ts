import { describe, expect, it } from 'vitest';
import { ppoCases } from '../../test/helpers/ppo-golden.ts';
import { makePpoTrainer } from '../../test/helpers/ppo-trainer-setup.ts';

/** ‖a − b‖ / ‖b‖ */
function relativeError(actual: Float32Array, expected: Float32Array): number {
  let [error, norm] = [0, 0];
  expected.forEach((wanted, i) => {
    error += (actual[i]! - wanted) ** 2;
    norm += wanted ** 2;
  });
  return Math.sqrt(error / norm);
}

function expectWeights(
  actual: ReadonlyMap<string, Float32Array>,
  expected: ReadonlyMap<string, Float32Array>,
): void {
  expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [name, wanted] of expected) {
    expect(relativeError(actual.get(name)!, wanted), name).toBeLessThan(1e-4);
  }
}

describe('ModelTrainer.trainStep()', () => {
  it.each(ppoCases)('equals a torch implementation over three steps: %s', async (name) => {
    const { golden, trainer, weights } = await makePpoTrainer(name);
    for (const [k, step] of golden.steps.entries()) {
      const { metrics, valueLoss } = await trainer.trainStep(golden.experience, {
        klCoef: golden.config.klCoef,
      });
      expect(valueLoss).toBeCloseTo(step.valueLoss, 5);
      expect(metrics['loss/policy_avg']).toBeCloseTo(step.policyLossParts.clip, 5);
      expect(metrics['policy/grad_norm']! / step.policyGradNorm).toBeCloseTo(1, 4);
      expect(metrics['value/grad_norm']! / step.valueGradNorm).toBeCloseTo(1, 4);
      if (k === 0) expectBoth(weights(), golden.afterFirst);
    }
    expectBoth(weights(), golden.afterLast);
  });
});

type Roles = Record<'policy' | 'value', ReadonlyMap<string, Float32Array>>;

function expectBoth(actual: Roles, expected: Roles): void {
  expectWeights(actual.policy, expected.policy);
  expectWeights(actual.value, expected.value);
}
