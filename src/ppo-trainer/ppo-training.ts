import { join } from 'node:path';
import { z } from 'zod';
import type { PPOConfig } from '../config/ppo-config.ts';
import { parseRolloutSpec } from '../config/rollout-spec.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { PromptRecord } from '../data/index.ts';
import { evaluationMetrics, readArrays, type Training, writeArrays } from '../loop/index.ts';
import type { RoleOptimizer } from '../training/index.ts';
import type { PPOComponents } from './components.ts';
import type { Evaluator } from './evaluator.ts';
import { MotionMonitor } from './motion-monitor.ts';
import { optimizerSteps, ppoStep } from './ppo-step.ts';
import { checkpointFolders, loadRoles, saveRoles } from './roles.ts';
import { stepRecords } from './step-records.ts';

export interface PPOTrainingOptions {
  readonly training: TrainingConfig;
  readonly prompts: readonly PromptRecord[];
  /** Prompts to evaluate on; nothing is evaluated without them. */
  readonly validation: readonly PromptRecord[];
  /** The reward computer's state before any training: each run starts from it. */
  readonly initialRewards: unknown;
}

const stateSchema = z.strictObject({
  optimizerSteps: z.array(z.int().min(0)),
  rewards: z.unknown(),
  convergence: z.unknown(),
  motion: z.unknown(),
  /** Responses of earlier steps that later updates reuse. */
  buffer: z.unknown(),
});

/** PPO as the training loop repeats it: a step over some prompts, evaluation, and all state. */
export function ppoTraining(components: PPOComponents, options: PPOTrainingOptions): Training {
  const { config, rewardComputer, modelTrainer, buffer } = components;
  const { training, prompts, validation, initialRewards } = options;
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
      const result = await ppoStep(components, batch, { ...context, log: training });
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
    state: {
      save: (folder) => saveState(folder, components, monitors),
      load: (folder, saved) => loadState(folder, saved, { components, ...monitors }),
    },
  };
}

/** What watches a run; part of its state. */
interface Monitors {
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

/** Writes adapters as PEFT folders and the moments of the optimisers. */
async function saveState(
  folder: string,
  components: PPOComponents,
  { evaluator, motion }: Monitors,
) {
  await saveRoles(components, checkpointFolders(folder));
  const steps: number[] = [];
  for (const [name, optimizer] of optimizersOf(components)) {
    const { step, tensors } = optimizer.state();
    steps.push(step);
    await writeArrays(join(folder, name), tensors);
  }
  return {
    optimizerSteps: steps,
    rewards: components.rewardComputer.state(),
    convergence: evaluator.convergence.state(),
    motion: motion.state(),
    buffer: components.buffer.state(),
  };
}

async function loadState(
  folder: string,
  saved: unknown,
  { components, evaluator, motion }: Monitors & { readonly components: PPOComponents },
): Promise<void> {
  const state = stateSchema.parse(saved);
  const { optimizerSteps: steps, rewards, convergence, buffer } = state;
  await loadRoles(components, checkpointFolders(folder));
  for (const [k, [name, optimizer]] of optimizersOf(components).entries()) {
    optimizer.restore({ step: steps[k]!, tensors: await readArrays(join(folder, name)) });
  }
  components.rewardComputer.restore(rewards);
  evaluator.convergence.restore(convergence);
  motion.restore(state.motion);
  components.buffer.restore(buffer);
}

function optimizersOf({ modelTrainer }: PPOComponents): [string, RoleOptimizer][] {
  const { policyOptimizer, valueOptimizer } = modelTrainer;
  const policy: [string, RoleOptimizer] = ['policy-optimizer.safetensors', policyOptimizer];
  return valueOptimizer === undefined
    ? [policy]
    : [policy, ['value-optimizer.safetensors', valueOptimizer]];
}
