import { describe, expect, it } from 'vitest';
import { randomAdapter } from '../../test/helpers/pass-checks.ts';
import { countX, tinyLoaded, tinyPrompts, trainedWeights } from '../../test/helpers/ppo-run.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { PolicyModel } from '../models/index.ts';
import { RewardComputer } from '../reward-kl/index.ts';
import { PolicyLoss, ValueLoss } from '../training/index.ts';
import type { ComponentOptions, PPOComponents } from './components.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const { base, tokenizer } = tinyLoaded;

const config: PPOConfigOptions = {
  ...{ maxNewTokens: 4, batchSize: 3, loraR: 4, learningRate: 1e-2, valueLearningRate: 1e-2 },
};

/** Trains one step and evaluates, with some parts replaced. */
async function run(replace: ComponentOptions['replace'], options: PPOConfigOptions = {}) {
  const trainer = new PPOTrainer(
    { ...config, ...options },
    { model: tinyLoaded, rewards: countX, replace },
  );
  const before = await trainedWeights(trainer);
  const { metrics, report } = await trainer.train(tinyPrompts.slice(0, 3), {
    ...{ maxSteps: 1, validationPrompts: ['x', 'y'], evalBestOf: 2, stopOnCollapse: false },
  });
  return { before, after: await trainedWeights(trainer), metrics, ...report!.performance };
}

const weightsOf = (role: 'policy' | 'value', weights: Record<string, Float32Array>) =>
  Object.fromEntries(Object.entries(weights).filter(([name]) => name.startsWith(`${role} `)));
const policyWeights = (weights: Record<string, Float32Array>) => weightsOf('policy', weights);
const valueWeights = (weights: Record<string, Float32Array>) => weightsOf('value', weights);

describe('replacing a part', () => {
  it('policy: the new one generates, is trained and is evaluated', async () => {
    const adapter = randomAdapter(base);
    const initial = new Map([...adapter.weights].map(([name, { data }]) => [name, data.slice()]));
    const calls: number[] = [];
    class CountingPolicy extends PolicyModel {
      override generate(...args: Parameters<PolicyModel['generate']>) {
        calls.push(args[0].length);
        return super.generate(...args);
      }
    }
    const policy = new CountingPolicy({ base, tokenizer, adapter });
    const { metrics, kl } = await run(() => ({ policy }));
    // Evaluation before the step (greedy and sampled), the rollout, evaluation after it.
    expect(calls).toEqual([2, 2, 3, 2, 2]);
    expect(Math.abs(metrics['objective/kl']!)).toBeGreaterThan(1e-3);
    expect(Math.abs(kl)).toBeGreaterThan(1e-3);
    const changed = [...adapter.weights].filter(
      ([name, { data }]) => !data.every((x, i) => x === initial.get(name)![i]),
    );
    expect(changed.length).toBeGreaterThan(0);
  });

  it('reference: KL is against the new one in training and in evaluation', async () => {
    const plain = await run(undefined, { learningRate: 1e-9 });
    const reference = new PolicyModel({ base, tokenizer, adapter: randomAdapter(base) });
    const replaced = await run(() => ({ reference }), { learningRate: 1e-9 });
    expect(plain.metrics['objective/kl']).toBeCloseTo(0, 4);
    expect(plain.kl).toBeCloseTo(0, 4);
    expect(Math.abs(replaced.metrics['objective/kl']!)).toBeGreaterThan(1e-3);
    expect(Math.abs(replaced.kl)).toBeGreaterThan(1e-3);
  });

  it('reward computer: training and evaluation use its scores', async () => {
    const source = {
      name: 'seven',
      score: async (samples: readonly unknown[]) => samples.map(() => 7),
    };
    const replaced = await run(({ config: full }: PPOComponents) => ({
      rewardComputer: new RewardComputer({ config: full, sources: [{ source, weight: 1 }] }),
    }));
    expect(replaced.metrics['objective/scores']).toBe(7);
    expect(replaced.reward).toBe(7);
    expect(replaced.greedyReward).toBe(7);
  });

  it('attributor: rewards and metrics use its KL', async () => {
    const replaced = await run(({ attributor }: PPOComponents) => ({
      attributor: {
        attribute: async (...args) => {
          const rollout = await attributor.attribute(...args);
          return { ...rollout, kl: rollout.kl.map(() => 2) };
        },
      },
    }));
    expect(replaced.metrics['objective/kl']).toBeCloseTo(
      2 * replaced.metrics['completions/mean_length']!,
      5,
    );
  });

  it('policy loss and value loss: the update uses them', async () => {
    const plain = await run(undefined);
    class NoPolicyLoss extends PolicyLoss {
      override evaluate(...args: Parameters<PolicyLoss['evaluate']>) {
        const result = super.evaluate(...args);
        return { ...result, dLogprobs: result.dLogprobs.map(() => 0) };
      }
    }
    class NoValueLoss extends ValueLoss {
      override evaluate(...args: Parameters<ValueLoss['evaluate']>) {
        const result = super.evaluate(...args);
        return { ...result, dValues: result.dValues.map(() => 0) };
      }
    }
    expect(plain.after).not.toEqual(plain.before);
    const noPolicy = await run(({ config: full }) => ({ policyLoss: new NoPolicyLoss(full) }));
    expect(policyWeights(noPolicy.after)).toEqual(policyWeights(noPolicy.before));
    expect(valueWeights(noPolicy.after)).not.toEqual(valueWeights(noPolicy.before));
    const noValue = await run(({ config: full }) => ({ valueLoss: new NoValueLoss(full) }));
    expect(valueWeights(noValue.after)).toEqual(valueWeights(noValue.before));
    expect(policyWeights(noValue.after)).not.toEqual(policyWeights(noValue.before));
  });

  it('evaluator: the run uses the new one', async () => {
    const { bestOfN, reward } = await run(({ makeEvaluator }: PPOComponents) => ({
      makeEvaluator: (training) => {
        const evaluator = makeEvaluator(training);
        const measure = evaluator.measure.bind(evaluator);
        evaluator.measure = async (...args) => {
          const { performance, samples } = await measure(...args);
          return { performance: { ...performance, reward: -5 }, samples };
        };
        return evaluator;
      },
    }));
    expect(reward).toBe(-5);
    expect(bestOfN).toBeGreaterThanOrEqual(0);
  });

  it('keeps the parts that do not use the replaced one', async () => {
    let defaults: PPOComponents | undefined;
    const trainer = new PPOTrainer(config, {
      model: tinyLoaded,
      rewards: countX,
      replace: (components) => {
        defaults = components;
        return { reference: new PolicyModel({ base, tokenizer }) };
      },
    });
    const { modelTrainer, attributor, jobs, valueAdder } = await trainer.components();
    expect(valueAdder).toBe(defaults!.valueAdder);
    expect(attributor).not.toBe(defaults!.attributor);
    expect(jobs).not.toBe(defaults!.jobs);
    expect(modelTrainer.policyOptimizer).toBeDefined();
  });
});
