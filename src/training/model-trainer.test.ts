import { describe, expect, it } from 'vitest';
import { makePpoTrainer, type PpoTrainerSetup } from '../../test/helpers/ppo-trainer-setup.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type Experience, selectSequences } from '../experience-buffer/experience.ts';
import { NonFiniteError } from '../loop/index.ts';

/** Weights after two optimiser steps, and the metrics of both. */
async function train(
  config: Partial<PPOConfig>,
  change: (experience: Experience) => Experience = (experience) => experience,
) {
  const { trainer, golden, weights } = await makePpoTrainer('every-term', config);
  const batch = change(golden.experience);
  const first = await trainer.trainStep(batch, { klCoef: 0.05 });
  const second = await trainer.trainStep(batch, { klCoef: 0.05 });
  return { weights: weights(), metrics: [first.metrics, second.metrics] };
}

type Trained = Awaited<ReturnType<typeof train>>;

function expectClose(actual: Trained, expected: Trained): void {
  for (const role of ['policy', 'value'] as const) {
    for (const [name, wanted] of expected.weights[role]) {
      const got = actual.weights[role].get(name)!;
      const largest = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      wanted.forEach((x, i) => {
        expect(Math.abs(got[i]! - x), name).toBeLessThan(1e-5 * largest);
      });
    }
  }
  expected.metrics.forEach((metrics, k) => {
    for (const [name, x] of Object.entries(metrics)) {
      expect(actual.metrics[k]![name], name).toBeCloseTo(x, 4);
    }
  });
}

describe('ModelTrainer.trainStep()', () => {
  it.each([1, 2, 3])('computes the same update in micro-batches of %i', async (microBatchSize) => {
    expectClose(await train({ microBatchSize }), await train({}));
  });

  it('does not depend on the order of sequences', async () => {
    const reversed = await train({}, (experience) => selectSequences(experience, [4, 2, 0, 1, 3]));
    expectClose(reversed, await train({}));
  });

  it.each(['none', 'all'] as const)(
    'computes the same update with %s saved',
    async (saveActivations) => {
      expectClose(await train({ saveActivations }), await train({}));
    },
  );

  it('has ratio 1, approxKL 0 and no clipping if old and new policy are the same', async () => {
    const { trainer, golden, policy } = await makePpoTrainer('token-clip');
    const { logprobs } = await policy.logprobs(golden.prompts, golden.responses, {
      temperature: golden.config.temperature,
    });
    const old = Float32Array.from(logprobs.flatMap((part) => [...part]));
    const { metrics } = await trainer.trainStep({ ...golden.experience, logprobs: old });
    expect(metrics['val/ratio']).toBeCloseTo(1, 6);
    expect(metrics['val/ratio_var']).toBeLessThan(1e-10);
    expect(metrics['policy/approxkl_avg']).toBeLessThan(1e-10);
    expect(metrics['policy/clipfrac_avg']).toBe(0);
  });

  it.each([undefined, 2])(
    'returns the ratio of every token, in micro-batches of %s',
    async (size) => {
      const { trainer, golden, policy } = await makePpoTrainer('token-clip', {
        microBatchSize: size,
      });
      const { logprobs } = await policy.logprobs(golden.prompts, golden.responses, {
        temperature: golden.config.temperature,
      });
      // log π_old is above log π_new by 0, 0.1, 0.2, 0, …: ρ = e^0, e^−0.1, e^−0.2, e^0, …
      const old = Float32Array.from(logprobs.flatMap((part) => [...part]));
      const shifted = old.map((logprob, t) => logprob + (t % 3) / 10);
      const batch = { ...golden.experience, logprobs: shifted };
      const { ratios } = await trainer.trainStep(batch);
      expect(ratios).toHaveLength(old.length);
      ratios.forEach((ratio, t) => {
        expect(ratio).toBeCloseTo(Math.exp(-(t % 3) / 10), 5);
      });
    },
  );

  it('stops before a step whose approxKL passes targetKl, and changes nothing', async () => {
    const { trainer, golden, weights } = await makePpoTrainer('token-clip', { targetKl: 1e-6 });
    const before = weights();
    const { stopped } = await trainer.trainStep(golden.experience);
    expect(stopped).toBe(true);
    expect(weights()).toEqual(before);
    expect(trainer.policyOptimizer.state().step).toBe(0);
  });

  it('skips the value update if there is no value model', async () => {
    const { trainer, golden } = await makePpoTrainer('token-clip', {}, { withValue: false });
    const { valueLoss, metrics } = await trainer.trainStep(golden.experience);
    expect(valueLoss).toBeNaN();
    expect(metrics).not.toHaveProperty('loss/value_avg');
  });

  it('applies the learning-rate schedule once the run is planned', async () => {
    const { trainer, golden } = await makePpoTrainer('token-clip', { schedule: 'linear' });
    trainer.start(4);
    const rates = [trainer.policyOptimizer.learningRate];
    for (let k = 0; k < 2; k++) {
      await trainer.trainStep(golden.experience);
      rates.push(trainer.policyOptimizer.learningRate);
    }
    expect(rates).toEqual([1, 0.75, 0.5].map((factor) => golden.config.learningRate * factor));
  });
});

describe('ModelTrainer.trainStep() with numbers that are not finite', () => {
  async function fail(spoil: (setup: PpoTrainerSetup) => Experience): Promise<Error> {
    const setup = await makePpoTrainer('token-clip');
    const batch = spoil(setup);
    const before = setup.weights();
    const error = await setup.trainer.trainStep(batch).catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(NonFiniteError);
    expect(setup.weights()).toEqual(before);
    return error as Error;
  }

  it('names the column of the experience that contains one', async () => {
    const { message } = await fail(({ golden }) => {
      const advantages = golden.experience.advantages.slice();
      advantages[3] = Number.NaN;
      return { ...golden.experience, advantages };
    });
    expect(message).toContain('advantages[3] of the experience is NaN');
    expect(message).toContain('Cannot run an optimiser step: loss/policy_avg must be finite');
  });

  it('names the op that produced the first one', async () => {
    const { message } = await fail(({ golden, policy }) => {
      const [name] = [...policy.adapter!.weights.keys()].filter((key) => key.includes('lora_B'));
      policy.adapter!.weights.get(name!)!.data[0] = 3e38;
      return golden.experience;
    });
    expect(message).toMatch(/in the policy model, found NaN: %\d+ = \w+\(/);
  });
});
