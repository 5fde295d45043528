import { describe, expect, it } from 'vitest';
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
  const setup = await makePpoTrainer('every-term', config);
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
