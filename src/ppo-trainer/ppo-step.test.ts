import { describe, expect, it } from 'vitest';
import { roundingOf } from '../../test/helpers/model-fixtures.ts';
import { largestDifference } from '../../test/helpers/pass-checks.ts';
import {
  countX,
  tinyBytes,
  tinyLoaded,
  tinyPrompts,
  trainedWeights,
} from '../../test/helpers/ppo-run.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { observeRuns } from '../engine/runtime/index.ts';
import { BaseModel, type LoadedModel } from '../models/index.ts';
import { reusesPrompts } from '../training/micro-batches.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const config: PPOConfigOptions = {
  ...{ maxNewTokens: 4, batchSize: 6, samplesPerPrompt: 2, rolloutBatchSize: 5 },
  ...{ loraR: 4, learningRate: 1e-2, saveActivations: 'matmul' },
};

function modelOf({ basePrecision }: PPOConfigOptions): LoadedModel {
  return basePrecision === 'int8' ? tinyBytes : tinyLoaded;
}

/** The same model with one layer per session, which reuses passes: small models run everything again. */
function layerByLayer(model: LoadedModel): LoadedModel {
  const { architecture, weights, bytes } = model.base;
  return { ...model, base: new BaseModel(architecture, weights, { bytes, layersPerSession: 1 }) };
}

/** Two steps of PPO: their tokens, metrics and products, and the weights after them. */
async function run(options: PPOConfigOptions, model = modelOf(options)) {
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
  it.each<PPOConfigOptions>([{}, { basePrecision: 'int8' }])(
    'starts with ratios of 1 and a KL of 0: %o',
    async (options) => {
      const trainer = new PPOTrainer(
        { ...config, ...options, ppoEpochs: 1 },
        { model: modelOf(options), rewards: countX },
      );
      const { metrics } = await trainer.ppoStep(tinyPrompts, { step: 1 });
      expect(metrics['objective/kl']).toBeCloseTo(0, 6);
      expect(metrics['val/ratio']).toBeCloseTo(1, 6);
      expect(metrics['policy/approxkl_avg']).toBeCloseTo(0, 9);
      expect(metrics['policy/clipfrac_avg']).toBe(0);
    },
  );

  it.each<PPOConfigOptions>([
    { rolloutPrecision: 'f32' },
    { rolloutPrecision: 'int8' },
    { rolloutPrecision: 'f32-feeds', basePrecision: 'int8' },
    { basePrecision: 'int8' },
  ])('computes the same update with less work if passes are reused: %o', async (options) => {
    const model = layerByLayer(modelOf(options));
    const reused = await run({ ...options, keepPasses: true }, model);
    const plain = await run({ ...options, keepPasses: false }, model);
    expect(reused.tokens).toEqual(plain.tokens);
    expect(reused.flops).toBeLessThan(0.95 * plain.flops);
    expect(reused.metrics['loss/policy_avg']).toBeCloseTo(plain.metrics['loss/policy_avg']!, 5);
    const within = roundingOf(model.base);
    for (const [name, weights] of Object.entries(plain.weights)) {
      expect(largestDifference(weights, reused.weights[name]!), name).toBeLessThan(within);
    }
  });

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
      // float32 sums depend on the number of texts that are decoded together. A number at the edge of two
      // bytes may then round to either, which changes the importance weight of its token.
      const within = 'rolloutPrecision' in options ? 0.02 : 1e-4;
      for (const [name, weights] of Object.entries(all.weights)) {
        expect(largestDifference(weights, one.weights[name]!), name).toBeLessThan(within);
        expect(largestDifference(weights, two.weights[name]!), name).toBeLessThan(within);
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
