import { describe, expect, it } from 'vitest';
import { largestDifference } from '../../test/helpers/pass-checks.ts';
import { countX, tinyLoaded, tinyPrompts, trainedWeights } from '../../test/helpers/ppo-run.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { observeRuns } from '../engine/runtime/index.ts';
import { BaseModel } from '../models/index.ts';
import { reusesPrompts } from '../training/micro-batches.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const config: PPOConfigOptions = {
  ...{ maxNewTokens: 4, batchSize: 6, samplesPerPrompt: 2, rolloutBatchSize: 5 },
  ...{ loraR: 4, learningRate: 1e-2, saveActivations: 'matmul' },
};

/** Two steps of PPO: their tokens, metrics and products, and the weights after them. */
async function run(options: PPOConfigOptions, model = tinyLoaded) {
  const trainer = new PPOTrainer({ ...config, ...options }, { model, rewards: countX });
  let flops = 0;
  const end = observeRuns((one) => {
    flops += one.flops;
  });
  const first = await trainer.ppoStep(tinyPrompts, { step: 1 });
  const second = await trainer.ppoStep(tinyPrompts, { step: 2 });
  end();
  const tokens = [first, second].map(({ experience }) => [...experience.tokens]);
  return { tokens, flops, metrics: second.metrics, weights: await trainedWeights(trainer) };
}

describe('ppoStep()', () => {
  it.each(['f32', 'int8'] as const)(
    'computes the same update with less work if passes are reused, with %s rollouts',
    async (rolloutPrecision) => {
      const { architecture, weights: baseWeights } = tinyLoaded.base;
      const base = new BaseModel(architecture, baseWeights, { layersPerSession: 1 });
      const model = { ...tinyLoaded, base };
      const reused = await run({ rolloutPrecision, keepPasses: true }, model);
      const plain = await run({ rolloutPrecision, keepPasses: false }, model);
      expect(reused.tokens).toEqual(plain.tokens);
      expect(reused.flops).toBeLessThan(0.95 * plain.flops);
      expect(reused.metrics['loss/policy_avg']).toBeCloseTo(plain.metrics['loss/policy_avg']!, 5);
      for (const [name, weights] of Object.entries(plain.weights)) {
        expect(largestDifference(weights, reused.weights[name]!), name).toBeLessThan(1e-6);
      }
    },
  );

  it.each([{ keepPasses: true }, { keepPasses: false }, { rolloutPrecision: 'int8' as const }])(
    'generates the same tokens and learns the same weights for any rolloutShardSize: %o',
    async (options) => {
      const [one, two, all] = [
        await run({ ...options, rolloutShardSize: 1 }),
        await run({ ...options, rolloutShardSize: 2 }),
        await run(options),
      ];
      expect(one.tokens).toEqual(all.tokens);
      expect(two.tokens).toEqual(all.tokens);
      for (const [name, weights] of Object.entries(all.weights)) {
        // float32 sums depend on the number of texts that are decoded together.
        expect(largestDifference(weights, one.weights[name]!), name).toBeLessThan(1e-4);
        expect(largestDifference(weights, two.weights[name]!), name).toBeLessThan(1e-4);
      }
    },
  );

  it.each(['rloo', 'grpo', 'reinforce++'] as const)(
    'equal scores have advantages of exactly 0 with %s, even if the policy has moved far',
    async (advantageEstimator) => {
      let isEqual = false;
      const rewards = (sample: { readonly response: string }) => (isEqual ? 0.1 : countX(sample));
      const options = { ...config, advantageEstimator, samplesPerPrompt: 3 };
      const trainer = new PPOTrainer(options, { model: tinyLoaded, rewards });
      const first = await trainer.ppoStep(tinyPrompts, { step: 0 });
      expect(first.experience.advantages.some((a) => a !== 0)).toBe(true);
      isEqual = true;
      const { experience, metrics } = await trainer.ppoStep(tinyPrompts, { step: 1 });
      expect(Math.abs(metrics['objective/kl']!)).toBeGreaterThan(0.01);
      expect(experience.advantages.every((a) => a === 0)).toBe(true);
    },
  );

  it('reuses no pass over prompts if values inside attention are saved', () => {
    const prompts = [Int32Array.of(1, 2)];
    const reuses = (saveActivations: 'all' | 'none') =>
      reusesPrompts(prompts, resolvePPOConfig({ ...config, saveActivations }));
    expect(reuses('all')).toBe(false);
    expect(reuses('none')).toBe(true);
  });
});
