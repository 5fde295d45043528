import { join } from 'node:path';
import { ppoConfigShape } from '../config/ppo-config.ts';
import { parseRewardSpec } from '../config/reward-spec.ts';
import {
  type RunConfig,
  type RunConfigOptions,
  type RunKind,
  resolveRunConfig,
  runConfigShape,
} from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import type { PromptDataset } from '../data/index.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import type { LoadedModel } from '../models/index.ts';
import {
  type MemoryEstimate,
  MemoryEstimator,
  planMemory,
} from '../ppo-trainer/memory-estimate.ts';
import { PPOTrainer } from '../ppo-trainer/ppo-trainer.ts';
import { findPolicy } from './evaluate-policy.ts';
import { humanFolder } from './human-scores.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { describeDropped, loadRunPrompts, pick } from './run-data.ts';
import { checkRewards, evaluationWithoutPeople, loadRewards } from './run-rewards.ts';
import { type RunOptions, type RunResult, type RunWork, runTraining } from './run-training.ts';

export interface TrainRunOptions extends RunOptions {
  /** Modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
}

/** Runs PPO on disk: config, logs, checkpoints and, at the end, the policy's adapter in PEFT format.
 *  @example
 *  const { modelFolder } = await trainRun({ prompts: 'prompts.jsonl', reward: ['reward.ts'] }); */
export async function trainRun(
  config: RunConfigOptions,
  options: TrainRunOptions = {},
): Promise<RunResult> {
  const complete = completeConfig(config, trainKind);
  checkRewards(complete);
  return runTraining(complete, {
    ...options,
    prepare: (model) => prepare(complete, { ...options, model }),
  });
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly. */
export async function resumeRun(
  folder: string,
  options: Omit<TrainRunOptions, 'resume'> = {},
): Promise<RunResult> {
  return trainRun(await readConfigOf(folder, trainKind), { ...options, resume: true });
}

/** `proximal train` */
export const trainKind: RunKind<RunConfigOptions, RunConfig> = {
  command: 'train',
  prefix: 'ppo',
  shape: runConfigShape,
  resolve: resolveRunConfig,
};

type PrepareOptions = Pick<TrainRunOptions, 'modules' | 'signal'> & { readonly model: LoadedModel };

async function prepare(
  config: RunConfig & { readonly output: string },
  { model, modules, signal }: PrepareOptions,
): Promise<RunWork<object>> {
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const prompts = await loadRunPrompts(config, { tokenizer, contextLength });
  signal?.throwIfAborted();
  const { live, ...rewards } = await loadRewards(config, {
    model,
    modules,
    humanFolder: humanFolder(config.output),
  });
  const evaluation = evaluationWithoutPeople({ live, ...rewards });
  const fitted = fitMemory(config, { architecture: base.architecture, prompts });
  const { adapter, ...ppo } = pick(fitted.config, ppoConfigShape);
  const start = adapter === undefined ? {} : { adapter: await findPolicy(adapter) };
  const trainer = new PPOTrainer(
    { ...ppo, ...start },
    { model, ...rewards, replace: evaluation?.replace },
  );
  const validation = evaluation?.canEvaluate === false ? [] : prompts.validation;
  const dropped = describeDropped(prompts.report);
  return {
    memoryPlan: config.memory === undefined ? undefined : describeFit(fitted),
    warnings: [
      ...(dropped ? [dropped] : []),
      ...(evaluation !== undefined && prompts.validation.length > 0 ? [evaluation.warning] : []),
    ],
    connect: (control, warn) =>
      live?.listen({
        step: () => control.nextStep,
        onWait: (missing) => control.reportMissingScores(missing),
        warn,
      }),
    train: (options) =>
      trainer.train(prompts.train, {
        ...pick(config, trainingConfigShape),
        ...options,
        validationPrompts: validation,
      }),
    saveModel: (folder) => trainer.saveModel(folder),
    saveBest: async (checkpoint) => join(checkpoint, 'policy'),
    result: () => ({}),
    dispose: () => trainer.dispose(),
  };
}

/** A config that fits into its memory limit, and the memory it is estimated to take. */
export interface FittedConfig<C extends RunConfig> {
  readonly config: C;
  readonly estimate: MemoryEstimate;
}

/** Adjusts a config to its `memory` limit; without a limit it stays as it is. */
export function fitMemory<C extends RunConfig>(
  config: C,
  { architecture, prompts }: { architecture: Architecture; prompts: PromptDataset },
): FittedConfig<C> {
  const all = [...prompts.train, ...prompts.validation];
  const promptLengths = all.map(({ tokens }) => tokens.length);
  const models = config.reward.filter((spec) => parseRewardSpec(spec).kind === 'model');
  const options = { config, promptLengths, rewardModels: models.length };
  if (config.memory === undefined) {
    return { config, estimate: new MemoryEstimator(architecture, options).estimate(config) };
  }
  const limit = parseBytes(config.memory);
  const { settings, estimate } = planMemory(architecture, { ...options, limit });
  return { config: { ...config, ...settings }, estimate };
}

/** @example '1.5GB'  →  1_500_000_000 */
function parseBytes(text: string): number {
  const [, number, unit] = /^([\d.]+) ?([kMG])B$/.exec(text)!;
  return Number(number) * { k: 1e3, M: 1e6, G: 1e9 }[unit as 'k' | 'M' | 'G'];
}

/** Describes the settings that fit into the memory limit, in one sentence. */
export function describeFit({ config, estimate }: FittedConfig<RunConfig>): string {
  const { rolloutPrecision, rolloutBatchSize, maxTokensAtOnce, saveActivations } = config;
  const reuse = config.keepPasses ? 'reuses forward passes in the update' : 'reuses no passes';
  return `Fits into ${config.memory} with about ${(estimate.peak / 1e9).toFixed(1)} GB: generates ${rolloutBatchSize} texts at a time in ${rolloutPrecision}, trains ${maxTokensAtOnce} tokens at a time, saves ${saveActivations} activations, ${reuse}`;
}
