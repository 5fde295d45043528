import type { PPOConfig } from '../config/ppo-config.ts';
import { parseRolloutSpec } from '../config/rollout-spec.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { PromptRecord } from '../data/index.ts';
import { evaluationMetrics } from '../loop/evaluation-report.ts';
import type { Training } from '../loop/index.ts';
import { type DevicePlan, explainDeviceFailure } from '../training/device-failure.ts';
import type { PPOComponents } from './components.ts';
import type { Evaluator } from './evaluator.ts';
import { MotionMonitor } from './motion-monitor.ts';
import { optimizerSteps, ppoStep } from './ppo-step.ts';
import { stepRecords } from './step-records.ts';

export interface PPOTrainingOptions {
  readonly training: TrainingConfig;
  readonly prompts: readonly PromptRecord[];
  /** Prompts to evaluate on; nothing is evaluated without them. */
  readonly validation: readonly PromptRecord[];
  /** The reward computer's state before any training: each run starts from it. */
  readonly initialRewards: unknown;
  /** Saves and restores all state; without it the training cannot be saved. */
  readonly makeState?: ((components: PPOComponents, monitors: Monitors) => SavedState) | undefined;
}

type SavedState = NonNullable<Training['state']>;

/** PPO as the training loop repeats it: a step over some prompts, evaluation, and all state. */
export function ppoTraining(components: PPOComponents, options: PPOTrainingOptions): Training {
  const { config, rewardComputer, modelTrainer, buffer } = components;
  const { training, prompts, validation, initialRewards, makeState } = options;
  const evaluator = components.makeEvaluator(training);
  const motion = new MotionMonitor(config);
  const monitors = { evaluator, motion };
  return {
    count: prompts.length,
    identity: () => ppoIdentity(config, { shuffle: training.shuffle, promptCount: prompts.length }),
    start: (totalSteps) => {
      modelTrainer.start(optimizerSteps(config, totalSteps));
      rewardComputer.restore(initialRewards);
      buffer.clear();
      motion.restore(undefined);
    },
    step: async (indices, context) => {
      const batch = Array.from(indices, (i) => prompts[i]!);
      const result = await ppoStep(components, batch, { ...context, log: training }).catch(
        (error: unknown) => {
          throw explainDeviceFailure(error, devicePlan(config));
        },
      );
      const { metrics, experience } = result;
      const about = { step: context.step + 1, places: indices, components, training };
      const warning = motion.update(metrics) ?? components.episodes?.takeWarning();
      const episodes = experience.sequences.length;
      return { metrics, episodes, ...stepRecords(result, about), warning };
    },
    evaluate: async ({ step, signal, onProgress }) => {
      if (validation.length === 0) return undefined;
      const report = await evaluator.evaluate(validation, {
        ...{ step, signal, klCoef: rewardComputer.klCoef },
        onProgress: ({ done, total }) => onProgress('evaluate', done, total),
      });
      const { stop: reason, message, performanceImproved } = report.convergence;
      const stop = reason && { reason, message };
      return { metrics: evaluationMetrics(report), report, improved: performanceImproved, stop };
    },
    state: makeState?.(components, monitors),
  };
}

/** What a step has on its device at once. */
function devicePlan(config: PPOConfig): DevicePlan {
  const { maxTokensAtOnce, microBatchSize, rolloutBatchSize } = config;
  const { batchSize, samplesPerPrompt, maxNewTokens } = config;
  return {
    ...{ maxTokensAtOnce, microBatchSize, rolloutBatchSize },
    ...{ batchSize, samplesPerPrompt, maxNewTokens },
  };
}

/** What watches a run; part of its state. */
export interface Monitors {
  readonly evaluator: Evaluator;
  readonly motion: MotionMonitor;
}

/** What must be the same for a run to resume exactly; the server of rollouts may have moved. */
export function ppoIdentity(
  config: PPOConfig,
  order: { readonly shuffle: boolean; readonly promptCount: number },
): Record<string, unknown> {
  const { rollouts, rolloutFolder: _, ...rest } = config;
  const kind = rollouts && parseRolloutSpec(rollouts)?.kind;
  return { ...rest, ...(kind && { rollouts: kind }), ...order };
}
