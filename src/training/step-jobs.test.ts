import { describe, expect, it } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { makePpoTrainer } from '../../test/helpers/ppo-trainer-setup.ts';
import { concatFloats, lengthsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { observeRuns } from '../engine/runtime/index.ts';
import { selectResponses } from '../models/responses.ts';
import { StepCache, StepPlan } from './micro-batches.ts';
import { PolicyLoss } from './policy-loss.ts';
import { LocalJobs } from './step-jobs.ts';
import { ValueLoss } from './value-loss.ts';

/** Scores the responses of a golden case, then runs two optimiser steps, the first of which may
 *  reuse the passes of scoring. */
async function train(config: Partial<PPOConfig>, { reuse }: { reuse: boolean }) {
  const setup = await makePpoTrainer('every-term', config, { layersPerSession: 1 });
  const { trainer, golden, policy, value, weights } = setup;
  const { experience } = golden;
  const whole = { ...golden.config, ...config };
  const [policyLoss, valueLoss] = [new PolicyLoss(whole), new ValueLoss(whole)];
  const jobs = new LocalJobs({ config: whole, policy, value, policyLoss, valueLoss });
  const plan = new StepPlan(experience, whole);
  const cache = reuse && plan.reusesPasses ? new StepCache() : undefined;
  const logprobs: Float32Array[] = [];
  const values: Float32Array[] = [];
  for (const [microBatch, indices] of plan.microBatches.entries()) {
    const responses = selectResponses(experience, indices);
    const stateCounts = indices.map((i) => lengthsOf(experience.stepOffsets)[i]!);
    const scored = await jobs.policyLogprobs({ microBatch, responses }, { cache });
    logprobs.push(scored.logprobs.slice());
    values.push((await jobs.values({ microBatch, responses, stateCounts }, { cache })).slice());
  }
  let flops = 0;
  const end = observeRuns((run) => {
    flops += run.flops;
  });
  const microBatches = plan.microBatchesOf(experience);
  const first = await trainer.trainStep(experience, { klCoef: 0.05, microBatches, cache });
  end();
  const second = await trainer.trainStep(experience, { klCoef: 0.05 });
  return {
    scored: { logprobs: concatFloats(logprobs), values: concatFloats(values) },
    flops,
    metrics: [first.metrics, second.metrics],
    weights: weights(),
    left: cache && cache.policy.size + cache.value.size,
  };
}

describe('LocalJobs', () => {
  it.each([
    ['all responses together', {}],
    ['cached micro-batches of two', { microBatchSize: 2, keepPasses: true }],
  ])(
    'computes the same numbers and update with less work if passes are reused: %s',
    async (_, config) => {
      const reused = await train(config, { reuse: true });
      const plain = await train(config, { reuse: false });
      expect(reused.scored).toEqual(plain.scored);
      expect(reused.metrics).toEqual(plain.metrics);
      expect(reused.weights).toEqual(plain.weights);
      expect(reused.flops).toBeLessThan(0.75 * plain.flops);
      expect(reused.left).toBe(0);
    },
  );

  it.each([
    ['token-clip', {}],
    ['token-clip', { dualClip: 1.5, clipEpsilon: 0.05, valueLoss: 'clipped' as const }],
    ['every-term', { microBatchSize: 2 }],
  ] as const)(
    'computes the same update of a small model in one run as in several: %s %o',
    async (name, config) => {
      const update = async (layersPerSession: number) => {
        const setup = await makePpoTrainer(name, config, { layersPerSession });
        let runs = 0;
        const end = observeRuns(() => runs++);
        const { metrics } = await setup.trainer.trainStep(setup.golden.experience, {
          klCoef: 0.05,
        });
        end();
        return { runs, metrics, weights: setup.weights() };
      };
      const [small, large] = [await update(8), await update(1)];
      expect(small.runs).toBeLessThan(large.runs / 2);
      expectClose(Object.values(small.metrics), {
        expected: Object.values(large.metrics),
        within: 1e-5,
        label: 'metrics',
      });
      for (const role of ['policy', 'value'] as const) {
        for (const [weight, expected] of large.weights[role]) {
          const actual = small.weights[role].get(weight)!;
          expectClose(actual, { expected, within: 1e-5, label: weight });
        }
      }
    },
  );

  it('reuses no passes of a small model, whose gradients need one run', async () => {
    const { policy, value, golden } = await makePpoTrainer('token-clip');
    const { config, experience } = golden;
    const [policyLoss, valueLoss] = [new PolicyLoss(config), new ValueLoss(config)];
    const jobs = new LocalJobs({ config, policy, value, policyLoss, valueLoss });
    const cache = new StepCache();
    const stateCounts = lengthsOf(experience.stepOffsets);
    const job = { microBatch: 0, responses: experience, stateCounts };
    const cached = [await jobs.policyLogprobs(job, { cache }), await jobs.values(job, { cache })];
    expect(cached).toEqual([await jobs.policyLogprobs(job), await jobs.values(job)]);
    expect([cache.policy.size, cache.value.size]).toEqual([0, 0]);
  });

  it.each([
    ['micro-batches of two', { microBatchSize: 2 }],
    ['minibatches of two', { miniBatchSize: 2, keepPasses: true }],
    ['sampling with replacement', { bufferSampling: 'uniform' as const }],
    ['a larger buffer', { bufferCapacity: 100 }],
    ['keepPasses: false', { keepPasses: false }],
  ])('reuses nothing with %s', async (_, config) => {
    const { golden } = await makePpoTrainer('every-term', config);
    const plan = new StepPlan(golden.experience, { ...golden.config, ...config });
    expect(plan.reusesPasses).toBe(false);
  });
});
