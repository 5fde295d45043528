import { describe, expect, it } from 'vitest';
import {
  countX,
  statefulConfig,
  tinyLoaded,
  tinyPrompts,
  trainedWeights,
  trainTiny,
  withoutTimes,
} from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { RewardModel, randomHead, type TokenBatch } from '../models/index.ts';
import { ModelTrainer, PolicyLoss, type PolicyLossInput } from '../training/index.ts';
import { PPOTrainer, type PPOTrainerOptions } from './ppo-trainer.ts';

const short: PPOConfigOptions = { maxNewTokens: 4, batchSize: 3, loraR: 4, learningRate: 1e-2 };

describe('PPOTrainer.train()', () => {
  it('emits every step, epoch, phase and evaluation in order', async () => {
    const { events, results } = await trainTiny(short, {
      validationPrompts: ['x'],
      evalInterval: 3,
      stopOnCollapse: false,
    });
    const described = events.flatMap((event) => {
      if (event.type === 'phase') return [];
      return [`${event.type} ${event.step}`];
    });
    expect(described).toEqual([
      'run-start 0',
      'evaluation 0',
      'step 1',
      'step 2',
      'epoch 2',
      'step 3',
      'evaluation 3',
      'step 4',
      'epoch 4',
      'evaluation 4',
      'run-end 4',
    ]);
    const phases = events.flatMap((event) =>
      event.type === 'phase' && event.step === 2 && event.done === event.total ? event.phase : [],
    );
    expect(phases).toEqual(['generate', 'score', 'update']);
    expect(results.reason).toBe('completed');
    expect(results.steps).toBe(4);
  });

  it('averages the steps of an epoch, under TRL’s names and short names', async () => {
    const { events, results } = await trainTiny(short, { numEpochs: 1 });
    const steps = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
    const scores = steps.map((metrics) => metrics['objective/scores']!);
    expect(results.avg_reward).toBeCloseTo((scores[0]! + scores[1]!) / 2, 12);
    for (const metrics of steps) {
      expect(metrics.avg_reward).toBe(metrics['objective/scores']);
      expect(metrics.kl_div).toBe(metrics['objective/kl']);
      expect(metrics.policy_loss).toBe(metrics['loss/policy_avg']);
      expect(metrics.value_loss).toBe(metrics['loss/value_avg']);
      expect(Object.keys(metrics)).toEqual(expect.arrayContaining([...trlNames]));
    }
    expect(steps.map((metrics) => metrics.episode)).toEqual([3, 6]);
  });

  it('starts at ratio 1: in the first optimiser step of a run, new and old policy are equal', async () => {
    const { events } = await trainTiny({ ...short, ppoEpochs: 1 }, { maxSteps: 1 });
    const [metrics] = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
    expect(metrics!['val/ratio']).toBeCloseTo(1, 5);
    expect(metrics!['policy/approxkl_avg']).toBeLessThan(1e-9);
    expect(metrics!['policy/clipfrac_avg']).toBe(0);
    expect(metrics!['objective/kl']).toBeCloseTo(0, 4);
  });

  it('repeats a run exactly for the same seed only', async () => {
    const [one, same, other] = [
      await trainTiny(short),
      await trainTiny(short),
      await trainTiny({ ...short, seed: 1 }),
    ];
    expect(withoutTimes(same.events)).toEqual(withoutTimes(one.events));
    expect(same.weights).toEqual(one.weights);
    expect(other.weights).not.toEqual(one.weights);
  });

  it.each<[string, PPOConfigOptions]>([
    ['rloo', { advantageEstimator: 'rloo', samplesPerPrompt: 3 }],
    ['grpo', { advantageEstimator: 'grpo', samplesPerPrompt: 3 }],
    ['reinforce++', { advantageEstimator: 'reinforce++' }],
    ['GSPO', { ratioLevel: 'sequence' }],
    ['rewards after the end', { rewardPlacement: 'after-final', whitening: 'unbiased' }],
    ['rewards on every token', { rewardPlacement: 'every', whitenRewards: true }],
    ['KL in the loss', { klPlacement: 'loss', klEstimator: 'k3' }],
    ['all losses', { valueLoss: 'clipped', dualClip: 3, clipEpsilonHigh: 0.28, entropyCoef: 0.01 }],
    ['int8 rollouts', { rolloutPrecision: 'int8' }],
    ['a base in bytes', { basePrecision: 'int8' }],
    ['filtered sampling', { topK: 20, topP: 0.9, temperature: 0.8 }],
  ])('trains with %s', async (_, config) => {
    const before = await trainedWeights(
      new PPOTrainer({ ...short, ...config }, { model: tinyLoaded }),
    );
    const { results, weights } = await trainTiny({ ...short, ...config });
    expect(Number.isFinite(results.policy_loss)).toBe(true);
    expect(Object.keys(weights)).toEqual(Object.keys(before));
    expect(weights).not.toEqual(before);
  });

  it('ends the update of a step once approxKL passes targetKl', async () => {
    const config = { ...short, learningRate: 0.05, ppoEpochs: 8 };
    const { events } = await trainTiny({ ...config, targetKl: 0.01 }, { maxSteps: 1 });
    const [metrics] = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
    expect(metrics!['policy/early_stop']).toBe(1);
    expect(metrics!['policy/optimizer_steps']).toBeLessThan(8);
  });

  it('warns if rewards come only from an untrained reward model', async () => {
    const { events } = await trainTiny(short, { maxSteps: 1 }, { rewards: undefined });
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    expect(warnings).toEqual([
      expect.stringContaining('an untrained reward model with a random head'),
    ]);
  });

  it('says that a reward model class is created with a random head', async () => {
    class CustomRewardModel extends RewardModel {}
    const warningsOf = async (options: PPOTrainerOptions, config: PPOConfigOptions = {}) => {
      const { events } = await trainTiny({ ...short, ...config }, { maxSteps: 1 }, options);
      return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    };
    const [message] = await warningsOf({ rewardModel: CustomRewardModel });
    expect(message).toMatch(/^The reward model CustomRewardModel is a class.*random head/);
    expect(message).not.toContain('the value model');
    const both = await warningsOf({ rewardModel: CustomRewardModel }, { valueInit: 'reward' });
    expect(both[0]).toContain('and the value model starts from this head');
    const { base, tokenizer } = tinyLoaded;
    const head = randomHead(base.architecture.config.hidden_size);
    const instance = new CustomRewardModel({ base, tokenizer, head });
    expect(await warningsOf({ rewardModel: instance })).toEqual([]);
  });

  it('starts the value model at the scale of the normalised reward, if configured', async () => {
    const { base, tokenizer } = tinyLoaded;
    const head = randomHead(base.architecture.config.hidden_size);
    const raw = new RewardModel({ base, tokenizer, head });
    const texts = tinyPrompts.map((prompt) => tokenizer.encode(`${prompt} a bx c d`));
    const scores = await raw.forward(texts);
    const mean = scores.reduce((sum, x) => sum + x, 0) / scores.length;
    const variance = scores.reduce((sum, x) => sum + (x - mean) ** 2, 0) / scores.length;
    const normalization = { mean: mean - 5, std: Math.sqrt(variance) / 4 };
    const rewardModel = new RewardModel({ base, tokenizer, head, normalization });
    const trainer = new PPOTrainer(
      { ...short, valueInit: 'reward' },
      { model: tinyLoaded, rewardModel, rewards: undefined },
    );
    const { value } = await trainer.components();
    const values = await value!.forward(texts);
    const expected = await rewardModel.forward(texts);
    for (const [i, score] of expected.entries()) expect(values[i]!.at(-1)).toBeCloseTo(score, 3);
  });

  it('rejects a step of more prompts than its buffer holds', async () => {
    const trainer = new PPOTrainer(short, { model: tinyLoaded, rewards: countX });
    await expect(trainer.ppoStep(tinyPrompts)).rejects.toThrow(
      'Cannot run a PPO step: there must be at most 3 prompts (batchSize), got 6',
    );
  });

  it('rejects valueInit "reward" without a reward model', async () => {
    await expect(
      new PPOTrainer({ valueInit: 'reward' }, { model: tinyLoaded, rewards: countX }).components(),
    ).rejects.toThrow('valueInit "reward" needs a reward model over the same base, got none');
  });

  it('accepts replacements: losses, advantages, an evaluator', async () => {
    const seen: string[] = [];
    const { results } = await trainTiny(
      short,
      { maxSteps: 1, validationPrompts: ['x'], stopOnCollapse: false },
      {
        replace: ({ config, policy, value, makeEvaluator }) => ({
          modelTrainer: new ModelTrainer({
            config,
            policy,
            value,
            policyLoss: new (class extends PolicyLoss {
              override evaluate(input: PolicyLossInput) {
                seen.push('policy loss');
                return super.evaluate(input);
              }
            })(config),
          }),
          advantageComputer: {
            computeAdvantages: ({ rewards, offsets }) => {
              seen.push('advantages');
              const advantages = new Float32Array(offsets.at(-1)!).fill(1);
              return { advantages, returns: rewards };
            },
          },
          makeEvaluator: (training) => {
            seen.push('evaluator');
            return makeEvaluator(training);
          },
        }),
      },
    );
    expect(results.reason).toBe('completed');
    expect(new Set(seen)).toEqual(new Set(['policy loss', 'advantages', 'evaluator']));
  });

  it('uses scores of a custom reward model', async () => {
    class Longer extends RewardModel {
      override async forward(inputIds: TokenBatch) {
        return Float32Array.from(inputIds, ({ length }) => length);
      }
    }
    const { events } = await trainTiny(
      short,
      { maxSteps: 1 },
      { rewardModel: Longer, rewards: undefined },
    );
    const [step] = events.flatMap((event) => (event.type === 'step' ? [event] : []));
    for (const { prompt, score, length } of step!.samples) {
      expect(score).toBe(prompt.split(' ').length + length);
    }
  });

  it.each([
    [[], 'Cannot train: there must be at least one prompt, got none'],
    [[''], 'Cannot train: prompt 0 must have 1 to 92 tokens'],
    [['a', 'b '.repeat(95)], 'Cannot train: prompt 1 must have 1 to 92 tokens'],
  ])('rejects prompts that cannot be answered: %j', async (prompts, message) => {
    const trainer = new PPOTrainer(short, { model: tinyLoaded, rewards: countX });
    await expect(trainer.train(prompts)).rejects.toThrow(message);
  });

  it.each([
    ['NaN', () => Number.NaN],
    [
      'an error',
      () => {
        throw new Error('the judge is out');
      },
    ],
    ['text', () => 'good' as unknown as number],
  ])('changes nothing if a reward returns %s', async (_, judge) => {
    const trainer = new PPOTrainer(
      { ...short, scoreNormalization: 'running' },
      { model: tinyLoaded, rewards: { judge } },
    );
    const before = await trainedWeights(trainer);
    const { rewardComputer } = await trainer.components();
    const state = rewardComputer.state();
    await expect(trainer.train(tinyPrompts)).rejects.toThrow(/"judge"/);
    expect(await trainedWeights(trainer)).toEqual(before);
    expect(rewardComputer.state()).toEqual(state);
  });
});

describe('PPOTrainer.saveModel()', () => {
  it('writes a model that loadModel() restores in another trainer', async () => {
    const folder = makeTempFolder();
    const trained = new PPOTrainer(statefulConfig, { model: tinyLoaded, rewards: countX });
    await trained.train(tinyPrompts, { maxSteps: 1 });
    await trained.saveModel(folder);
    const other = new PPOTrainer({ ...statefulConfig, seed: 9 }, { model: tinyLoaded });
    expect(await trainedWeights(other)).not.toEqual(await trainedWeights(trained));
    await other.loadModel(folder);
    expect(await trainedWeights(other)).toEqual(await trainedWeights(trained));
    const different = new PPOTrainer({ ...statefulConfig, loraR: 8 }, { model: tinyLoaded });
    await expect(different.loadModel(folder)).rejects.toThrow(
      '(rank 8, alpha 32, 8 modules), got rank 4',
    );
  });
});

describe('PPOTrainer with an adapter to start from', () => {
  it('starts policy and reference from it, and trains only the policy', async () => {
    const folder = makeTempFolder();
    const first = new PPOTrainer(statefulConfig, { model: tinyLoaded, rewards: countX });
    await first.train(tinyPrompts, { maxSteps: 3 });
    await first.saveModel(folder);
    const next = new PPOTrainer(
      { ...short, adapter: folder },
      { model: tinyLoaded, rewards: countX },
    );
    const { policy, reference } = await next.components();
    const [trained] = [await first.components()];
    for (const [name, { data }] of trained.policy.adapter!.weights) {
      expect(policy.adapter!.weights.get(name)!.data).toEqual(data);
      expect(reference.adapter!.weights.get(name)!.data).toEqual(data);
    }
    const { performance } = await next.evaluate(['a b']);
    expect(Math.abs(performance.kl)).toBeLessThan(1e-4);
    await next.train(tinyPrompts, { maxSteps: 2 });
    for (const [name, { data }] of trained.policy.adapter!.weights) {
      expect(reference.adapter!.weights.get(name)!.data).toEqual(data);
      expect(policy.adapter!.weights.get(name)!.data).not.toEqual(data);
    }
  });
});

describe('PPOTrainer.evaluate()', () => {
  it('rates an untrained policy equal to its reference', async () => {
    const trainer = new PPOTrainer(short, { model: tinyLoaded, rewards: countX });
    const { performance } = await trainer.evaluate(['a b', 'c d']);
    expect(performance.winRate).toBe(0.5);
    expect(Math.abs(performance.kl)).toBeLessThan(1e-4);
  });
});

/** Metric names from TRL, and additional ones. */
const trlNames = [
  'objective/kl',
  'objective/entropy',
  'objective/scores',
  'objective/rlhf_reward',
  'objective/non_score_reward',
  'objective/kl_coef',
  'policy/approxkl_avg',
  'policy/clipfrac_avg',
  'policy/entropy_avg',
  'loss/policy_avg',
  'loss/value_avg',
  'val/ratio',
  'val/ratio_var',
  'val/num_eos_tokens',
  'lr',
  'episode',
  'ppo/returns/mean',
  'ppo/returns/var',
  'ppo/val/vpred',
  'ppo/val/error',
  'ppo/val/var_explained',
  'completions/mean_length',
  'completions/min_length',
  'completions/max_length',
  'rewards/countX/mean',
  'rewards/countX/std',
  'timing/generate',
  'timing/score',
  'timing/update',
  'perf/tokens_per_second',
] as const;

describe('a second train() on one trainer', () => {
  const options = { numEpochs: 2, validationPrompts: ['x'], stopOnCollapse: false };

  /** The learning rates and weights of a run. */
  async function trainAgain(trainer: PPOTrainer) {
    const rates: number[] = [];
    const results = await trainer.train(tinyPrompts, {
      ...options,
      callbacks: [{ onStepEnd: (_, { lr }) => void rates.push(lr!) }],
    });
    const { metrics } = results;
    return { rates, score: metrics['objective/scores'], weights: await trainedWeights(trainer) };
  }

  it.each(['linear', 'cosine'] as const)(
    'is a new run that starts from the trained weights: %s schedule',
    async (schedule) => {
      const config = { ...statefulConfig, schedule };
      const create = () => new PPOTrainer(config, { model: tinyLoaded, rewards: countX });
      const folder = makeTempFolder();
      const trainer = create();
      const first = await trainAgain(trainer);
      await trainer.saveModel(folder);
      const second = await trainAgain(trainer);
      expect(second.rates).toEqual(first.rates);
      expect(Math.max(...second.rates)).toBeGreaterThan(0);
      const fresh = create();
      await fresh.loadModel(folder);
      expect(await trainAgain(fresh)).toEqual(second);
    },
  );
});
