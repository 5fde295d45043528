import { join } from 'node:path';
import { readAdapter } from '../base-setup/index.ts';
import { type PPOConfig, type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { resolveTrainingConfig, type TrainingConfigOptions } from '../config/training-config.ts';
import {
  createTrainLoop,
  type EvaluationReport,
  type LoopOptions,
  type LoopResult,
  notifyCallback,
  type TrainCallback,
  type TrainEvent,
} from '../loop/index.ts';
import { type LoadedModel, loadModel } from '../models/index.ts';
import { buildComponents, type ComponentOptions, type PPOComponents } from './components.ts';
import { ppoStateFiles } from './ppo-state-files.ts';
import { type PPOStepResult, ppoStep, type StepContext } from './ppo-step.ts';
import { ppoTraining } from './ppo-training.ts';
import { readPrompts, type TrainPrompt } from './read-prompts.ts';
import { checkpointFolders, loadRoles, saveRoles } from './roles-files.ts';
import { rolloutServers } from './rollout-servers.ts';

/** The model, rewards and components that a `PPOTrainer` is built from. */
export interface PPOTrainerOptions
  extends Omit<ComponentOptions, 'warn' | 'initialAdapter' | 'rolloutServers'> {
  /** A model that is already loaded, instead of the config's `modelName`. */
  readonly model?: LoadedModel | undefined;
}

export interface TrainOptions extends TrainingConfigOptions, LoopOptions {
  /** Prompts to evaluate on; nothing is evaluated without them. */
  readonly validationPrompts?: readonly TrainPrompt[] | undefined;
  readonly callbacks?: readonly TrainCallback[] | undefined;
}

/** How a run ended. The four short-named metrics are means over its last epoch. */
export interface TrainingResults extends LoopResult {
  readonly avg_reward: number;
  readonly policy_loss: number;
  readonly value_loss: number;
  readonly kl_div: number;
}

/**
 * Fine-tunes a language model by proximal policy optimisation.
 * @example
 * const trainer = new PPOTrainer(
 *   { modelName: 'Qwen/Qwen3-0.6B-Base', maxNewTokens: 50, batchSize: 4 },
 *   { rewards: ({ response }) => -response.length },
 * );
 * const results = await trainer.train(['Your prompt here'], { numEpochs: 10 });
 */
export class PPOTrainer {
  readonly config: PPOConfig;
  private readonly options: PPOTrainerOptions;
  private readonly warnings: string[] = [];
  private built: Promise<PPOComponents> | undefined;
  private initialRewards: unknown;

  constructor(config: PPOConfigOptions = {}, options: PPOTrainerOptions = {}) {
    this.config = resolvePPOConfig(config);
    this.options = options;
  }

  /** The components of a step, over one copy of the base; the first call loads the model. */
  components(): Promise<PPOComponents> {
    this.built ??= this.build();
    return this.built;
  }

  /** Trains on prompts for some epochs. With `output`, checkpoints are saved as training proceeds, and
   *  `resumeFrom` continues from them. Afterwards the trainer holds the last policy; the best one by
   *  validation is in `checkpoints.best` of the results, for `loadCheckpoint`. */
  async train(
    prompts: readonly TrainPrompt[],
    options: TrainOptions = {},
  ): Promise<TrainingResults> {
    const { validationPrompts = [], callbacks = [], onEvent, ...rest } = options;
    const { signal, control, output, saveCheckpoint, resumeFrom, ...course } = rest;
    const training = resolveTrainingConfig(course);
    const components = await this.components();
    const emit = async (event: TrainEvent) => {
      await onEvent?.(event);
      for (const callback of callbacks) await notifyCallback(callback, event);
    };
    const parts = {
      training,
      prompts: readPrompts(prompts, components, 'train'),
      validation: readPrompts(validationPrompts, components, 'validate'),
      initialRewards: this.initialRewards,
      makeState: ppoStateFiles,
    };
    const loop = createTrainLoop(
      ppoTraining(components, parts),
      { ...components.config, ...training },
      { onEvent: emit, signal, control, output, saveCheckpoint, resumeFrom },
    );
    for (const message of this.warnings) await emit({ type: 'warning', step: 0, message });
    return withShortNames(await loop.run());
  }

  /** One step over some prompts: texts, rewards, advantages, updates.
   *  @param context the step's number keys its random streams */
  async ppoStep(
    prompts: readonly TrainPrompt[],
    context: StepContext = { step: 0 },
  ): Promise<PPOStepResult> {
    const { batchSize } = this.config;
    if (prompts.length > batchSize) {
      throw new RangeError(
        `Cannot run a PPO step: there must be at most ${batchSize} prompts (batchSize), got ${prompts.length}; raise batchSize or pass fewer`,
      );
    }
    const components = await this.components();
    return ppoStep(components, readPrompts(prompts, components, 'train'), context);
  }

  /** Measures the current policy on some prompts. */
  async evaluate(
    prompts: readonly TrainPrompt[],
    options: TrainingConfigOptions & Pick<TrainOptions, 'signal'> = {},
  ): Promise<EvaluationReport> {
    const { signal, ...course } = options;
    const components = await this.components();
    const evaluator = components.makeEvaluator(resolveTrainingConfig(course));
    const records = readPrompts(prompts, components, 'evaluate');
    return evaluator.evaluate(records, { step: 0, signal });
  }

  /** Writes the policy's adapter as PEFT does, and the value model's into a `value` folder in it. */
  async saveModel(path: string): Promise<void> {
    await saveRoles(await this.components(), {
      policyFolder: path,
      valueFolder: join(path, 'value'),
    });
  }

  /** Restores the weights that `saveModel` wrote. */
  async loadModel(path: string): Promise<void> {
    await loadRoles(await this.components(), {
      policyFolder: path,
      valueFolder: join(path, 'value'),
    });
  }

  /** Restores the weights of a checkpoint, such as the best one of `train()`. */
  async loadCheckpoint(folder: string): Promise<void> {
    await loadRoles(await this.components(), checkpointFolders(folder));
  }

  /** Frees all sessions; a model that was passed in stays usable. */
  async dispose(): Promise<void> {
    if (this.built === undefined) return;
    const { policy, reference, model, rolloutServer } = await this.built;
    this.built = undefined;
    await rolloutServer?.dispose();
    await policy.dispose();
    await reference.dispose();
    if (this.options.model === undefined) await model.base.dispose();
  }

  private async build(): Promise<PPOComponents> {
    const { modelName, revision, basePrecision, device, adapter } = this.config;
    const options = { basePrecision, device, ...(revision !== undefined && { revision }) };
    const model = this.options.model ?? (await loadModel(modelName, options));
    const warn = (message: string) => void this.warnings.push(message);
    const initial = adapter === undefined ? undefined : await readAdapter(adapter, model.base);
    if (initial?.warning !== undefined) warn(initial.warning);
    const components = buildComponents(this.config, model, {
      ...this.options,
      initialAdapter: initial?.adapter,
      rolloutServers,
      warn,
    });
    await components.rolloutServer?.connect();
    this.initialRewards = components.rewardComputer.state();
    return components;
  }
}

function withShortNames(result: LoopResult): TrainingResults {
  const { avg_reward, policy_loss, value_loss, kl_div } = result.metrics;
  const known = { avg_reward, policy_loss, value_loss, kl_div };
  const numbers = Object.entries(known).map(([name, number]) => [name, number ?? Number.NaN]);
  return { ...result, ...Object.fromEntries(numbers) };
}
