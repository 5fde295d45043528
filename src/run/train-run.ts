import { readChatTemplateKwargs } from '../config/data-config.ts';
import { type PPOConfig, ppoConfigShape, resolvePPOConfig } from '../config/ppo-config.ts';
import { parseRewardSpec } from '../config/reward-spec.ts';
import {
  noQueue,
  type RunConfig,
  type RunConfigOptions,
  type RunKind,
  resolveRunConfig,
  runConfigShape,
} from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import type { PromptDataset } from '../data/index.ts';
import type { Environment } from '../environments/index.ts';
import { withoutSecrets } from '../http/index.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import { holdBase } from '../models/decoder/quantize-base.ts';
import type { LoadedModel } from '../models/index.ts';
import type { PPOComponents } from '../ppo-trainer/components.ts';
import { PPOTrainer } from '../ppo-trainer/ppo-trainer.ts';
import { withServerRollouts } from '../rollout-server/index.ts';
import { type MemoryEstimate, MemoryEstimator, planMemory } from '../training/memory-estimate.ts';
import { resolveStart } from './find-model.ts';
import { humanFolder } from './human-scores.ts';
import { expectTrustedRewards, recordTrustedRewards } from './reward-trust.ts';
import { completeConfig } from './run-config-files.ts';
import { type DataContext, describePrompts, loadRunPrompts, pick } from './run-data.ts';
import { checkEnvironment, loadEnvironment, openJournal } from './run-environment.ts';
import { locateRunFiles } from './run-folder.ts';
import { rewardInputs } from './run-inputs.ts';
import { checkRewards, evaluationWithoutPeople, loadRewards } from './run-rewards.ts';
import { withoutConfigSecrets, writeSecrets } from './run-secrets.ts';
import { type RunSources, readSources } from './run-sources.ts';
import { readRunState } from './run-state.ts';
import {
  type CheckInputs,
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
  checkEnvironment(complete);
  return runTraining(withoutConfigSecrets(complete), {
    ...options,
    prepare: async (model, checkInputs) => {
      await writeSecrets(complete.output, complete);
      return prepare(complete, { ...options, model, checkInputs });
    },
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

type PrepareOptions = TrainRunOptions & {
  readonly model: LoadedModel;
  readonly checkInputs: CheckInputs;
};

async function prepare(
  config: RunConfig & { readonly output: string },
  options: PrepareOptions,
): Promise<RunWork<object>> {
  const environment = await openEnvironment(config, options);
  try {
    return await prepareWith(environment, config, options);
  } catch (error) {
    await environment?.close?.();
    throw error;
  }
}

async function prepareWith(
  environment: Environment | undefined,
  config: RunConfig & { readonly output: string },
  { model, checkInputs, modules, signal, ...consent }: PrepareOptions,
): Promise<RunWork<object>> {
  const sources = await readTrainSources(config, model, { environment });
  const { data: prompts, fitted, trainerConfig } = sources;
  signal?.throwIfAborted();
  const inputs = [...sources.inputs, ...(await rewardInputs(config))];
  await checkInputs(inputs);
  const warnings = await confirmRewards(config, consent);
  const { live, dispose, ...rewards } = await loadRewards(config, {
    ...{ model, modules, signal },
    humanFolder: humanFolder(config.output),
    warn: (message) => void warnings.push(message),
  });
  const evaluation = evaluationWithoutPeople({ live, ...rewards });
  const queue = await connectToQueue(config, { model, trainerConfig, warnings });
  const journal = environment && (await openJournal(locateRunFiles(config.output).answers));
  const trainer = new PPOTrainer(trainerConfig, {
    ...{ model, ...rewards },
    ...(environment && {
      environment,
      // An environment may be the only reward.
      rewards: rewards.rewards.length > 0 ? rewards.rewards : undefined,
      journal: journal?.journal,
      chatTemplateKwargs: readChatTemplateKwargs(config.chatTemplateKwargs ?? '{}'),
    }),
    replace: (components) => ({
      ...evaluation?.replace?.(components),
      ...queue?.replace(components),
    }),
  });
  await trainer.components();
  const validation = evaluation?.canEvaluate === false ? [] : prompts.validation;
  return {
    ranking: { metric: 'eval/reward', label: 'reward' },
    report: prompts.report,
    inputs,
    memoryPlan: config.memory === undefined ? undefined : describeFit(fitted),
    warnings: [
      ...warnings,
      ...describePrompts(prompts.report),
      ...(evaluation !== undefined && prompts.validation.length > 0 ? [evaluation.warning] : []),
    ],
    connect: (control, warn) => {
      queue?.listen((message) => void warn(message));
      live?.listen({
        step: () => control.nextStep,
        onWait: (missing) => control.reportMissingScores(missing),
        warn,
      });
    },
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
      await environment?.close?.();
      journal?.close();
      await queue?.close();
      await trainer.dispose();
    },
  };
}

/** Loads the environment of a run; that of a folder from somebody else needs consent. */
async function openEnvironment(
  config: RunConfig & { readonly output: string },
  { modules, ...consent }: TrainRunOptions,
): Promise<Environment | undefined> {
  if (config.environment === undefined) return undefined;
  const { resume = false, trust = false, allowChangedInputs: allowChanged = false } = consent;
  if (resume) await expectTrustedRewards(config, { run: config.output, trust, allowChanged });
  return loadEnvironment(config, { modules });
}

/** Requires that reward files which the folder of a run names may be executed, and records that they
 *  were. Returns warnings. */
async function confirmRewards(
  config: RunConfig & { readonly output: string },
  { resume = false, trust = false, allowChangedInputs: allowChanged = false }: RunOptions,
): Promise<string[]> {
  if (resume) await expectTrustedRewards(config, { run: config.output, trust, allowChanged });
  return recordTrustedRewards(config);
}

/** Connects a run to the workers of its queue; undefined without one. */
async function connectToQueue(
  { queue: url, output: folder }: RunConfig & { readonly output: string },
  options: {
    readonly model: LoadedModel;
    readonly trainerConfig: PPOConfig;
    readonly warnings: string[];
  },
) {
  if (url === undefined || url === noQueue) return undefined;
  const { model, warnings } = options;
  const { rollouts } = options.trainerConfig;
  // Workers need to know that a server generates, but not its password.
  const config = {
    ...options.trainerConfig,
    ...(rollouts !== undefined && { rollouts: withoutSecrets(rollouts) }),
  };
  // BullMQ is loaded only if it is needed.
  const { connectQueue, QueueJobs, WorkersReporter } = await import('../queue/index.ts');
  let warn = (message: string): void => void warnings.push(message);
  if (config.rolloutShardSize === undefined && config.batchSize > 1) {
    warn('One worker generates all responses of a step: set rolloutShardSize to split the prompts');
  }
  const { startedAt } = (await readRunState(folder))!;
  const client = await connectQueue({
    ...{ url, config, model, folder, startedAt },
    warn: (message) => warn(message),
  });
  const reporter = new WorkersReporter(client, locateRunFiles(folder).workers);
  return {
    replace: (components: PPOComponents) => {
      const jobs = new QueueJobs(client, components);
      const { rolloutServer } = components;
      return { jobs: rolloutServer ? withServerRollouts(jobs, rolloutServer) : jobs };
    },
    listen: (receive: (message: string) => void) => {
      warn = receive;
    },
    close: () => reporter.close().then(() => client.close()),
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
  { environment }: { readonly environment?: Environment | undefined } = {},
): Promise<TrainSources> {
  const tools = environment?.tools;
  const load = (context: DataContext) => loadRunPrompts(config, { ...context, tools });
  const sources = await readSources(config, { model, load });
  const { data: prompts, start } = sources;
  const fitted = await fitMemory(config, { architecture: model.base.architecture, prompts });
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
async function fitMemory<C extends RunConfig>(
  config: C,
  { architecture, prompts }: { architecture: Architecture; prompts: PromptDataset },
): Promise<FittedConfig<C>> {
  const all = [...prompts.train, ...prompts.validation];
  const promptLengths = all.map(({ tokens }) => tokens.length);
  const models = config.reward.filter((spec) => parseRewardSpec(spec).kind === 'model');
  const held = await holdBase(architecture, config.basePrecision);
  const options = { config, promptLengths, rewardModels: models.length, held };
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
