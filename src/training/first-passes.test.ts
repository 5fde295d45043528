import { describe, expect, it } from 'vitest';
import { makePpoTrainer } from '../../test/helpers/ppo-trainer-setup.ts';
import { ValueAdder } from '../advantage/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { observeRuns } from '../engine/runtime/index.ts';

/** Two optimiser steps, the first after the passes that gave V_old and log π_old, or without them. */
async function train(config: Partial<PPOConfig>, { withPasses }: { withPasses: boolean }) {
  const made = await makePpoTrainer('every-term', config);
  const { trainer, golden, policy, value, weights } = made;
  const { experience } = golden;
  const [prompts, responses] = [golden.prompts, golden.responses].map((texts) =>
    texts.map((ids) => Int32Array.from(ids)),
  ) as [Int32Array[], Int32Array[]];
  const { temperature } = golden.config;
  const { stepOffsets } = experience;
  const given = trainer.firstPasses();
  const found = withPasses
    ? {
        logprobs: await given.logprobs.logprobs(prompts, responses, { temperature }),
        values: await given.values!.addValues(experience, stepOffsets),
      }
    : {
        logprobs: await policy.logprobs(prompts, responses, { temperature }),
        values: await new ValueAdder(value).addValues(experience, stepOffsets),
      };
  let flops = 0;
  const end = observeRuns((run) => {
    flops += run.flops;
  });
  const first = await trainer.trainStep(experience, { klCoef: 0.05 });
  end();
  const second = await trainer.trainStep(experience, { klCoef: 0.05 });
  return { found, flops, metrics: [first.metrics, second.metrics], weights: weights() };
}

describe('ModelTrainer.firstPasses()', () => {
  it.each([
    ['all responses together', {}],
    ['parts of two that are kept', { microBatchSize: 2, keepPasses: true }],
  ])('gives the same numbers and the same update with less work: %s', async (_, config) => {
    const kept = await train(config, { withPasses: true });
    const plain = await train(config, { withPasses: false });
    expect(kept.found).toEqual(plain.found);
    expect(kept.metrics).toEqual(plain.metrics);
    expect(kept.weights).toEqual(plain.weights);
    expect(kept.flops).toBeLessThan(0.75 * plain.flops);
  });

  it.each([
    ['parts of two', { microBatchSize: 2 }],
    ['optimiser steps of two', { miniBatchSize: 2, keepPasses: true }],
    ['where it is told not to', { keepPasses: false }],
  ])('keeps nothing of %s', async (_, config) => {
    const kept = await train(config, { withPasses: true });
    const plain = await train(config, { withPasses: false });
    expect(kept.found).toEqual(plain.found);
    expect(kept.flops).toBe(plain.flops);
  });

  it('forgets passes once the weights change', async () => {
    const { trainer, golden } = await makePpoTrainer('every-term');
    const { experience } = golden;
    await trainer.firstPasses().values!.addValues(experience, experience.stepOffsets);
    trainer.forgetPasses();
    const again = await train({}, { withPasses: false });
    let flops = 0;
    const end = observeRuns((run) => {
      flops += run.flops;
    });
    await trainer.trainStep(experience, { klCoef: 0.05 });
    end();
    expect(flops).toBe(again.flops);
  });
});
