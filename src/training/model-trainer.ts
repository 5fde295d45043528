import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { type Experience, selectSequences } from '../experience-buffer/experience.ts';
import type { PolicyModel, TrunkOptions, ValueModel } from '../models/index.ts';
import { expectFinite } from './expect-finite.ts';
import { inOrder } from './in-order.ts';
import { microBatches, type StepCache } from './micro-batches.ts';
import { addSums, PolicyLoss, type PolicySums, policyMetrics } from './policy-loss.ts';
import { RoleOptimizer } from './role-optimizer.ts';
import { LocalJobs, placeColumns, type StepCounts, type StepJobs } from './step-jobs.ts';
import { ValueLoss, type ValueSums, valueMetrics } from './value-loss.ts';

/** The models, losses and config of a `ModelTrainer`. */
export interface ModelTrainerOptions {
  readonly config: PPOConfig;
  readonly policy: PolicyModel;
  /** Missing if the advantage estimator needs no values. */
  readonly value?: ValueModel | undefined;
  readonly policyLoss?: PolicyLoss | undefined;
  readonly valueLoss?: ValueLoss | undefined;
  /** Computes the gradients of micro-batches; in this process by default. */
  readonly jobs?: Pick<StepJobs, 'gradients' | 'isRemote'> | undefined;
}

/** The KL coefficient, micro-batches and cached passes of one optimiser step. */
export interface TrainStepOptions extends TrunkOptions {
  /** β, for a KL term in the loss; 0 by default. */
  readonly klCoef?: number;
  /** Indices of the responses that run together; planned from the config by default. */
  readonly microBatches?: readonly (readonly number[])[];
  /** Passes of the current weights, by micro-batch. */
  readonly cache?: StepCache | undefined;
  /** Number of completed PPO steps. */
  readonly step?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of one optimiser step. */
export interface TrainStepResult {
  readonly policyLoss: number;
  /** NaN without a value model. */
  readonly valueLoss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Whether approxKL exceeded `targetKl`: the weights are unchanged then. */
  readonly stopped: boolean;
  /** ρ_t = π_new/π_old of the minibatch's tokens before the step, [N]. */
  readonly ratios: Float32Array;
}

/** Runs optimiser steps of the policy and the value model on experience. */
export class ModelTrainer {
  readonly policyOptimizer: RoleOptimizer;
  readonly valueOptimizer: RoleOptimizer | undefined;
  private readonly options: ModelTrainerOptions;
  private readonly jobs: Pick<StepJobs, 'gradients' | 'isRemote'>;

  constructor(options: ModelTrainerOptions) {
    const { config, policy, value } = options;
    const { policyLoss = new PolicyLoss(config), valueLoss = new ValueLoss(config) } = options;
    const { learningRate, valueLearningRate, weightDecay } = config;
    this.options = options;
    this.jobs = options.jobs ?? new LocalJobs({ config, policy, value, policyLoss, valueLoss });
    this.policyOptimizer = new RoleOptimizer(
      [{ parameters: arraysOf(policy.adapter), learningRate, weightDecay }],
      config,
    );
    if (value === undefined) return;
    this.valueOptimizer = new RoleOptimizer(
      [
        { parameters: arraysOf(value.adapter), learningRate: valueLearningRate, weightDecay },
        { parameters: value.headParameters(), learningRate: valueLearningRate },
      ],
      config,
    );
  }

  /** Starts a new run of this many optimiser steps: schedules from the start, zero moments. */
  start(totalSteps: number): void {
    this.policyOptimizer.start(totalSteps);
    this.valueOptimizer?.start(totalSteps);
  }

  /** Copies weights and moments. The returned function restores them. */
  snapshot(): () => void {
    const restores = [this.policyOptimizer, this.valueOptimizer].map((role) => role?.snapshot());
    return () => {
      for (const restore of restores) restore?.();
    };
  }

  /** One optimiser step of each model on a minibatch. The gradients of its micro-batches are added in
   *  order. */
  async trainStep(batch: Experience, options: TrainStepOptions = {}): Promise<TrainStepResult> {
    const { config } = this.options;
    const { klCoef = 0, cache, trunk, step, signal } = options;
    const { microBatches: parts = microBatches(batch, config) } = options;
    const { policyOptimizer, valueOptimizer } = this;
    const counts = countsOf(batch);
    const policySums: PolicySums[] = [];
    const valueSums: ValueSums[] = [];
    const ratios = new Float32Array(batch.tokens.length);
    const run = (indices: readonly number[], microBatch: number) => {
      const experience = selectSequences(batch, indices);
      const job = { microBatch, experience, counts, klCoef };
      return this.jobs.gradients(job, { cache, trunk, step, signal });
    };
    let done = 0;
    for await (const { policy, value } of inOrder(this.jobs, parts, run)) {
      const indices = parts[done++]!;
      policyOptimizer.add(policy.gradients);
      policySums.push(policy.sums);
      placeColumns(ratios, { offsets: batch.offsets, indices, values: policy.ratios });
      if (value === undefined) continue;
      valueOptimizer?.add(value.gradients);
      valueSums.push(value.sums);
    }
    const metrics = {
      ...policyMetrics(policySums.reduce(addSums), counts.tokenCount),
      'policy/grad_norm': policyOptimizer.gradientNorm(),
      ...(valueOptimizer && {
        ...valueMetrics(valueSums.reduce(addSums), counts.stepCount),
        'value/grad_norm': valueOptimizer.gradientNorm(),
      }),
    };
    const stopped = metrics['policy/approxkl_avg']! > (config.targetKl ?? Infinity);
    await this.stepOptimizers(batch, { metrics, stopped });
    return {
      policyLoss: metrics['loss/policy_avg']!,
      valueLoss: metrics['loss/value_avg'] ?? Number.NaN,
      metrics,
      stopped,
      ratios,
    };
  }

  /** Steps both optimisers, unless the update stops here or a number is not finite. */
  private async stepOptimizers(
    batch: Experience,
    { metrics, stopped }: Pick<TrainStepResult, 'metrics' | 'stopped'>,
  ): Promise<void> {
    const optimizers = [this.policyOptimizer, this.valueOptimizer];
    try {
      await expectFinite(metrics, { batch, ...this.options });
      if (!stopped) for (const optimizer of optimizers) optimizer?.step();
    } finally {
      for (const optimizer of optimizers) optimizer?.reset();
    }
  }
}

function countsOf({ sequences, tokens, values }: Experience): StepCounts {
  return {
    sequenceCount: sequences.length,
    tokenCount: tokens.length,
    stepCount: values.length,
  };
}

function arraysOf(adapter: LoraAdapter | undefined): NamedArrays {
  if (adapter === undefined) {
    throw new Error('Cannot train a model without an adapter: pass adapter to its constructor');
  }
  return Object.fromEntries([...adapter.weights].map(([name, { data }]) => [name, data]));
}
