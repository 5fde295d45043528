import { describe, expect, it, vi } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { largestDifference, randomAdapter } from '../../test/helpers/pass-checks.ts';
import { tinyPrompts, trainedWeights } from '../../test/helpers/ppo-run.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { orderedWeights, quantizeBase } from '../models/decoder/quantize-base.ts';
import { BaseModel, RewardModel, randomHead } from '../models/index.ts';
import type { PPOComponents } from './components.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const LAYERS = 4;
const tokenizer = tinyTokenizer();

const config: PPOConfigOptions = {
  ...{ maxNewTokens: 5, batchSize: 6, samplesPerPrompt: 2, ppoEpochs: 2, rolloutBatchSize: 12 },
  ...{ loraR: 4, learningRate: 1e-2, valueLearningRate: 1e-2, loraTargets: ['all-linear'] },
  ...{ loraLayers: 2, keepPasses: false },
};

const original = tinyModel(1, { layers: LAYERS });
const bytesOfTiny = await quantizeBase(original.architecture, orderedWeights(original));

interface SetupOptions {
  readonly layersPerSession?: number;
  readonly replace?: (components: PPOComponents) => Partial<PPOComponents>;
}

/** A trainer whose reward model has an adapter on the upper layers, over a base of four layers. */
function makeTrainer(
  options: PPOConfigOptions,
  { layersPerSession = LAYERS, replace }: SetupOptions = {},
): PPOTrainer {
  const { architecture, weights, bytes } =
    options.basePrecision === 'int8' ? bytesOfTiny : tinyModel(1, { layers: LAYERS });
  const base = new BaseModel(architecture, weights, { layersPerSession, bytes });
  const adapter = randomAdapter(base, { layers_to_transform: [2, 3] });
  const head = randomHead(architecture.config.hidden_size);
  const rewardModel = new RewardModel({ base, tokenizer, adapter, head });
  const model = { base, tokenizer, folder: 'tiny' };
  return new PPOTrainer(
    { ...config, ...options },
    { model, rewardModel, ...(replace && { replace }) },
  );
}

/** Jobs and rewards that compute every layer themselves. */
function withoutTrunk({ jobs, rewardComputer }: PPOComponents): Partial<PPOComponents> {
  return {
    jobs: {
      rollOut: (job, context) => jobs.rollOut(job, context),
      policyLogprobs: (job, { cache } = {}) => jobs.policyLogprobs(job, { cache }),
      refLogprobs: (job) => jobs.refLogprobs(job),
      values: (job, { cache } = {}) => jobs.values(job, { cache }),
      gradients: (job, { cache } = {}) => jobs.gradients(job, { cache }),
    },
    rewardComputer: Object.assign(Object.create(rewardComputer), {
      computeRewards: (
        rollout: never,
        { trunk: _, ...options }: { trunk?: never; samples: never },
      ) => rewardComputer.computeRewards(rollout, options),
    }),
  };
}

/** Two steps: columns of the second, and the weights after it. */
async function run(options: PPOConfigOptions, setup?: SetupOptions) {
  const trainer = makeTrainer(options, setup);
  await trainer.ppoStep(tinyPrompts, { step: 1 });
  const { experience, metrics } = await trainer.ppoStep(tinyPrompts, { step: 2 });
  const weights = await trainedWeights(trainer);
  await trainer.dispose();
  return { experience, metrics, weights };
}

describe('One trunk for all models', () => {
  it.each([
    ['all layers in one session', {}, LAYERS],
    ['one layer per session', {}, 1],
    ['several micro-batches', { microBatchSize: 3 }, LAYERS],
    ['several minibatches', { miniBatchSize: 4, microBatchSize: 3 }, LAYERS],
    ['known prompts', { keepPasses: undefined, miniBatchSize: 4, microBatchSize: 3 }, 1],
    ['known prompts of several shards', { keepPasses: undefined, rolloutShardSize: 2 }, LAYERS],
    ['known prompts below two borders', { keepPasses: true, valueLoraLayers: 1 }, 1],
    ['known prompts, a value model on more layers', { keepPasses: true, valueLoraLayers: 3 }, 1],
    ['reused passes', { keepPasses: true }, LAYERS],
    ['reused passes of int8 rollouts', { keepPasses: true, rolloutPrecision: 'int8' }, 1],
    ['a base in bytes', { basePrecision: 'int8', rolloutPrecision: 'f32-feeds' }, LAYERS],
    ['a base in bytes, one layer per session', { basePrecision: 'int8', keepPasses: true }, 1],
    ['a shallower value model', { valueLoraLayers: 1 }, LAYERS],
    ['a value model on all layers', { valueLoraLayers: 'all' }, LAYERS],
    ['a range of layers', { loraLayers: '1-2' }, 1],
    ['values after the last token', { rewardPlacement: 'after-final' }, LAYERS],
    ['a buffer of several steps', { bufferCapacity: 18 }, LAYERS],
  ] as const)('changes nothing: %s', async (_, options, layersPerSession) => {
    const shared = await run(options, { layersPerSession });
    const plain = await run(
      { ...options, keepPasses: false },
      { layersPerSession, replace: withoutTrunk },
    );
    expect(shared.experience.tokens).toEqual(plain.experience.tokens);
    for (const column of ['logprobs', 'refLogprobs', 'scores', 'values', 'advantages'] as const) {
      const [expected, actual] = [plain.experience[column], shared.experience[column]];
      expect(largestDifference(expected, actual), column).toBeLessThan(1e-4);
    }
    for (const [name, weights] of Object.entries(plain.weights)) {
      expect(largestDifference(weights, shared.weights[name]!), name).toBeLessThan(1e-4);
    }
  });

  it('runs the lower layers once per step, the upper ones for every model and epoch', async () => {
    const trainer = makeTrainer({ microBatchSize: 4 });
    await trainer.ppoStep(tinyPrompts, { step: 1 });
    const { model } = await trainer.components();
    const weight = vi.spyOn(model.base, 'weight');
    await trainer.ppoStep(tinyPrompts, { step: 2 });
    const runsOf = (layer: number) =>
      weight.mock.calls.filter(([name]) => name === `model.layers.${layer}.mlp.up_proj.weight`)
        .length;
    // Prompts run once, responses in three micro-batches.
    expect([runsOf(0), runsOf(1)]).toEqual([1 + 3, 1 + 3]);
    // Reference and values in three; all rewards together; two epochs of both models, forward and back.
    const upper = 1 + 3 + 3 + 1 + 2 * 2 * 2 * 3;
    expect([runsOf(2), runsOf(3)]).toEqual([upper, upper]);
  });

  it('embeds each prompt once, and each response once more after decoding', async () => {
    const trainer = makeTrainer({ keepPasses: true, microBatchSize: 4 });
    const { model } = await trainer.components();
    const embed = vi.spyOn(model.base, 'embed');
    const { experience } = await trainer.ppoStep(tinyPrompts, { step: 1 });
    const embedded = embed.mock.calls.reduce((sum, [{ tokens }]) => sum + tokens.length, 0);
    const prompts = new Set(experience.sequences.map(({ promptTokens }) => promptTokens));
    const promptTokens = [...prompts].reduce((sum, { length }) => sum + length, 0);
    const responseTokens = experience.tokens.length;
    // The decoder does not run the last token of a response.
    const decoded = responseTokens - experience.sequences.length;
    expect(embedded).toBe(promptTokens + decoded + responseTokens);
  });

  it.each([{ keepPasses: true }, { keepPasses: false, microBatchSize: 5 }])(
    'starts an update at ratio 1 and KL 0: %o',
    async (options) => {
      const trainer = makeTrainer({ ...options, ppoEpochs: 1 });
      await trainer.ppoStep(tinyPrompts, { step: 1 });
      const { metrics } = await trainer.ppoStep(tinyPrompts, { step: 2 });
      expect(metrics['objective/kl']).not.toBe(0);
      expect(metrics['val/ratio']).toBeCloseTo(1, 5);
      expect(metrics['policy/approxkl_avg']).toBeLessThan(1e-9);
      expect(metrics['policy/clipfrac_avg']).toBe(0);
    },
  );

  it('trains adapters on the chosen layers only', async () => {
    const trainer = makeTrainer({ loraLayers: '1-2', valueLoraLayers: 1 });
    const { policy, value } = await trainer.components();
    const layersOf = (names: Iterable<string>) => [
      ...new Set([...names].map((name) => name.match(/layers\.(\d)/)![1])),
    ];
    expect(layersOf(policy.adapter!.weights.keys())).toEqual(['1', '2']);
    expect(layersOf(value!.adapter!.weights.keys())).toEqual(['3']);
  });

  it('rejects more layers than the model has', async () => {
    await expect(makeTrainer({ valueLoraLayers: 5 }).components()).rejects.toThrow(
      'must be all, a number up to 4 or a range within 0-3 for a model of 4 layers, got 5',
    );
  });
});
