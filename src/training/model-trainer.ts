import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { type Experience, selectSequences } from '../experience-buffer/experience.ts';
import type { PromptRunner } from '../generation/decoder.ts';
import type { PolicyModel, ValueModel } from '../models/index.ts';
import { expectFinite } from './expect-finite.ts';
import { FirstLogprobs, FirstValues, keepsPrompts } from './first-passes.ts';
import { microBatches } from './micro-batches.ts';
import { PolicyLoss } from './policy-loss.ts';
import { addSums, type PolicySums, policyMetrics } from './policy-loss-sums.ts';
import { PolicyPass } from './policy-pass.ts';
import { HEAD, RoleOptimizer } from './role-optimizer.ts';
import { countSteps } from './step-counts.ts';
import { ValueLoss } from './value-loss.ts';
import { type ValueSums, valueMetrics } from './value-loss-sums.ts';
import { ValuePass } from './value-pass.ts';

export interface ModelTrainerOptions {
  readonly config: PPOConfig;
  readonly policy: PolicyModel;
  /** Absent where the advantage estimator needs no values. */
  readonly value?: ValueModel | undefined;
  readonly policyLoss?: PolicyLoss | undefined;
  readonly valueLoss?: ValueLoss | undefined;
}

/** What one optimiser step gave. */
export interface TrainStepResult {
  readonly policyLoss: number;
  /** NaN without a value model. */
  readonly valueLoss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Whether approxKL passed `targetKl`: nothing was changed then. */
  readonly stopped: boolean;
  /** ρ_t = π_new/π_old of the minibatch's tokens before the step, [N]. */
  readonly ratios: Float32Array;
}

/** Makes optimiser steps of policy and value model from experience. */
export class ModelTrainer {
  readonly policyOptimizer: RoleOptimizer;
  readonly valueOptimizer: RoleOptimizer | undefined;
  private readonly options: ModelTrainerOptions;
  private readonly policyPass: PolicyPass;
  private readonly valuePass: ValuePass | undefined;

  constructor(options: ModelTrainerOptions) {
    const { config, policy, value } = options;
    const { policyLoss = new PolicyLoss(config), valueLoss = new ValueLoss(config) } = options;
    const { learningRate, valueLearningRate, weightDecay } = config;
    this.options = options;
    this.policyPass = new PolicyPass({ policy, loss: policyLoss, config });
    this.policyOptimizer = new RoleOptimizer(
      [{ parameters: arraysOf(policy.adapter!), learningRate, weightDecay }],
      config,
    );
    if (value === undefined) return;
    this.valuePass = new ValuePass({ value, loss: valueLoss, config });
    this.valueOptimizer = new RoleOptimizer(
      [
        { parameters: arraysOf(value.adapter!), learningRate: valueLearningRate, weightDecay },
        { parameters: { [HEAD]: value.head.data }, learningRate: valueLearningRate },
      ],
      config,
    );
  }

  /** Gives log π_old and V_old of a step, by passes that its first optimiser step takes over. */
  firstPasses(): { readonly logprobs: FirstLogprobs; readonly values: FirstValues | undefined } {
    const { config, policy, value } = this.options;
    return {
      logprobs: new FirstLogprobs(this.policyPass, { config, policy }),
      values: this.valuePass && new FirstValues(this.valuePass, { config, value: value! }),
    };
  }

  /** Runs the prompts of a rollout so that the first optimiser step need not; undefined where it
   *  would not take that over. */
  promptRunner(prompts: readonly Int32Array[]): PromptRunner | undefined {
    if (!keepsPrompts(prompts, this.options.config)) return undefined;
    return (batch) => this.policyPass.runPrompts(batch);
  }

  /** Lets go of passes that no optimiser step took over; to be called when the weights change. */
  forgetPasses(): void {
    this.policyPass.forget();
    this.valuePass?.forget();
  }

  /** Tells the schedules how many optimiser steps the run makes. */
  start(totalSteps: number): void {
    this.policyOptimizer.start(totalSteps);
    this.valueOptimizer?.start(totalSteps);
  }

  /** Remembers weights and moments; the function that is returned brings them back. */
  snapshot(): () => void {
    const restores = [this.policyOptimizer, this.valueOptimizer].map((role) => role?.snapshot());
    return () => {
      for (const restore of restores) restore?.();
    };
  }

  /** One optimiser step of each model over a minibatch, in micro-batches whose gradients add up. */
  async trainStep(batch: Experience, { klCoef = 0 } = {}): Promise<TrainStepResult> {
    const { config } = this.options;
    const counts = countSteps(batch);
    const { policyOptimizer, valueOptimizer } = this;
    const policySums: PolicySums[] = [];
    const valueSums: ValueSums[] = [];
    const ratios = new Float32Array(batch.tokens.length);
    for (const indices of microBatches(batch, config)) {
      const part = selectSequences(batch, indices);
      // First the one whose pass is kept more often, which sets its memory free.
      if (this.valuePass !== undefined && valueOptimizer !== undefined) {
        valueSums.push(await this.valuePass.run(part, { counts, optimizer: valueOptimizer }));
      }
      const given = { counts, klCoef, optimizer: policyOptimizer };
      const run = await this.policyPass.run(part, given);
      policySums.push(run.sums);
      putSequences(ratios, { batch, indices, values: run.ratios });
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
    await this.finish(batch, { metrics, stopped });
    return {
      policyLoss: metrics['loss/policy_avg']!,
      valueLoss: metrics['loss/value_avg'] ?? Number.NaN,
      metrics,
      stopped,
      ratios,
    };
  }

  /** Steps both optimisers, unless the update stops here; numbers that are not finite change nothing. */
  private async finish(
    batch: Experience,
    { metrics, stopped }: Pick<TrainStepResult, 'metrics' | 'stopped'>,
  ): Promise<void> {
    const optimizers = [this.policyOptimizer, this.valueOptimizer];
    try {
      await expectFinite(metrics, { batch, ...this.options });
      if (!stopped) for (const optimizer of optimizers) optimizer?.step();
    } finally {
      this.forgetPasses();
      for (const optimizer of optimizers) optimizer?.reset();
    }
  }
}

/** Puts columns of some sequences into the whole batch's. */
function putSequences(
  column: Float32Array,
  given: { batch: Experience; indices: readonly number[]; values: Float32Array },
): void {
  const { offsets } = given.batch;
  let from = 0;
  for (const i of given.indices) {
    const length = offsets[i + 1]! - offsets[i]!;
    column.set(given.values.subarray(from, from + length), offsets[i]!);
    from += length;
  }
}

function arraysOf({ weights }: LoraAdapter): NamedArrays {
  return Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
}
