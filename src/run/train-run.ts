import { type PPOConfig, ppoConfigShape, resolvePPOConfig } from '../config/ppo-config.ts';
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
import type { ModelHeader } from '../models/decoder/load-model.ts';
import type { LoadedModel } from '../models/index.ts';
import { PPOTrainer } from '../ppo-trainer/ppo-trainer.ts';
import { type MemoryEstimate, MemoryEstimator, planMemory } from '../training/memory-estimate.ts';
import { resolveStart } from './find-model.ts';
import { humanFolder } from './human-scores.ts';
import { completeConfig } from './run-config-files.ts';
import { type DataContext, describePrompts, loadRunPrompts, pick } from './run-data.ts';
import { rewardInputs } from './run-inputs.ts';
import { checkRewards, evaluationWithoutPeople, loadRewards } from './run-rewards.ts';
import { type RunSources, readSources } from './run-sources.ts';
import {
  type ResumeOptions,
  type RunOptions,
  type RunResult,
  type RunWork,
  resumeTraining,
  runTraining,
} from './run-training.ts';

export interface TrainRunOptions extends RunOptions {
  /** URLs of modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
}

/** Runs PPO on disk: config, logs, checkpoints and, at the end, the policy's adapter in PEFT format.
 *  @example
 *  const { modelFolder } = await trainRun({ prompts: 'prompts.jsonl', reward: ['reward.ts'] }); */
export async function trainRun(
  config: RunConfigOptions,
  options: TrainRunOptions = {},
): Promise<RunResult> {
  const { config: complete } = await resolveStart(completeConfig(config, trainKind));
  await checkRewards(complete);
  return runTraining(complete, {
    ...options,
    prepare: (model) => prepare(complete, { ...options, model }),
  });
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly, or for another
 *  number of steps if `maxSteps` is set. */
export function resumeRun(
  folder: string,
  options: ResumeOptions<TrainRunOptions> = {},
): Promise<RunResult> {
  return resumeTraining(folder, { kind: trainKind, run: trainRun }, options);
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
  const sources = await readTrainSources(config, model);
  const { data: prompts, fitted, trainerConfig } = sources;
  signal?.throwIfAborted();
  const warnings: string[] = [];
  const { live, dispose, ...rewards } = await loadRewards(config, {
    ...{ model, modules, signal },
    humanFolder: humanFolder(config.output),
    warn: (message) => void warnings.push(message),
  });
  const evaluation = evaluationWithoutPeople({ live, ...rewards });
  const trainer = new PPOTrainer(trainerConfig, {
    ...{ model, ...rewards },
    replace: evaluation?.replace,
  });
  await trainer.components();
  const validation = evaluation?.canEvaluate === false ? [] : prompts.validation;
  return {
    ranking: { metric: 'eval/reward', label: 'reward' },
    report: prompts.report,
    inputs: [...sources.inputs, ...(await rewardInputs(config))],
    memoryPlan: config.memory === undefined ? undefined : describeFit(fitted),
    warnings: [
      ...warnings,
      ...describePrompts(prompts.report),
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
    loadCheckpoint: (folder) => trainer.loadCheckpoint(folder),
    result: () => ({}),
    dispose: async () => {
      dispose();
      await trainer.dispose();
    },
  };
}

/** What a PPO run reads, besides its rewards. */
export interface TrainSources extends RunSources<PromptDataset> {
  readonly fitted: FittedConfig<RunConfig>;
  readonly trainerConfig: PPOConfig;
}

/** Reads everything that a run trains on, besides its rewards. */
export async function readTrainSources(
  config: RunConfig,
  model: ModelHeader,
): Promise<TrainSources> {
  const load = (context: DataContext) => loadRunPrompts(config, context);
  const sources = await readSources(config, { model, load });
  const { data: prompts, start } = sources;
  const fitted = fitMemory(config, { architecture: model.base.architecture, prompts });
  const own = pick(fitted.config, ppoConfigShape);
  return {
    ...sources,
    fitted,
    trainerConfig: resolvePPOConfig({ ...own, adapter: start?.folder }),
  };
}

/** A config that fits into its memory limit, and the memory it is estimated to take. */
export interface FittedConfig<C extends RunConfig> {
  readonly config: C;
  readonly estimate: MemoryEstimate;
}

/** Adjusts a config to its `memory` limit; without a limit it is unchanged. */
function fitMemory<C extends RunConfig>(
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
