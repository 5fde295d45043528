import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ppoConfigShape } from '../config/ppo-config.ts';
import {
  placePaths,
  type RunConfig,
  type RunConfigOptions,
  resolveRunConfig,
} from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import type { PromptDataset } from '../data/index.ts';
import { type LoadedModel, loadModel } from '../models/index.ts';
import type { TrainEvent } from '../ppo-trainer/events.ts';
import { PPOTrainer, type TrainingResults } from '../ppo-trainer/ppo-trainer.ts';
import { type BestCheckpoint, findBestCheckpoint } from './best-checkpoint.ts';
import { describeDropped, loadRunPrompts } from './load-run-prompts.ts';
import { MetricSink } from './metric-sink.ts';
import { type FirstAndLast, readFirstAndLast } from './read-evaluations.ts';
import { checkRewards, loadRewards } from './reward-specs.ts';
import { RunFolder, readRunConfig } from './run-folder.ts';

export interface TrainRunOptions {
  /** Go on with the run in the config's `output`; false by default. */
  readonly resume?: boolean | undefined;
  /** Ends the run in order: what is done is saved. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** How to load the config's model, such as with a progress bar. */
  readonly loadModel?: ((config: RunConfig) => Promise<LoadedModel>) | undefined;
  /** Modules that reward files may import by name without an installation, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
}

/** How a run ended, and where it lies. */
export interface TrainRunResult extends TrainingResults {
  readonly folder: string;
  /** The policy's adapter as PEFT saves it; undefined if the run was interrupted. */
  readonly modelFolder: string | undefined;
  /** Undefined without validation prompts. */
  readonly evaluations: FirstAndLast | undefined;
  /** The checkpoint with the best validation reward, which may be another than the last. */
  readonly best: BestCheckpoint | undefined;
}

/** A whole run of PPO on the disk: config, logs, checkpoints and, at the end, the model. A run that
 *  fails before it begins leaves nothing behind.
 *  @example
 *  const { modelFolder } = await trainRun({ prompts: 'prompts.jsonl', reward: ['reward.ts'] }); */
export async function trainRun(
  options: RunConfigOptions,
  context: TrainRunOptions = {},
): Promise<TrainRunResult> {
  const config = completeRunConfig(options);
  const { resume = false, signal } = context;
  checkRewards(config);
  const run = await RunFolder.create(config.output, {
    config,
    keepCheckpoints: config.keepCheckpoints,
    resume,
  });
  let hasBegun = resume;
  try {
    const parts = await prepare(config, context);
    try {
      hasBegun = true;
      return await train(config, { ...context, ...parts, run });
    } finally {
      await parts.trainer.dispose();
    }
  } catch (error) {
    const status = signal?.aborted ? 'interrupted' : 'failed';
    run.update({ status, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    run.close();
    if (!hasBegun) await rm(config.output, { recursive: true });
  }
}

/** Goes on with the run in a folder exactly, from its latest whole checkpoint. */
export async function resumeRun(
  folder: string,
  context: Omit<TrainRunOptions, 'resume'> = {},
): Promise<TrainRunResult> {
  return trainRun(await readResumedConfig(folder), { ...context, resume: true });
}

/** The config to go on with the run in a folder, which may have been moved. */
export async function readResumedConfig(folder: string): Promise<RunConfig> {
  const saved = (await readRunConfig(folder)) as RunConfigOptions;
  return resolveRunConfig({ ...saved, output: folder }, { name: `the config of ${folder}` });
}

/** Where a run goes if nobody says: `runs/ppo-20260131-235959`, by this machine's clock. */
function defaultOutput(now = new Date()): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('');
  return join('runs', `ppo-${date}-${time}`);
}

type CompleteConfig = RunConfig & { readonly output: string };

/** A run's config with its folder and with absolute paths, so that it can be resumed from anywhere. */
export function completeRunConfig(options: RunConfigOptions): CompleteConfig {
  const config = placePaths(resolveRunConfig(options), process.cwd());
  return { ...config, output: resolve(config.output ?? defaultOutput()) };
}

interface Parts {
  readonly trainer: PPOTrainer;
  readonly prompts: PromptDataset;
}

async function prepare(config: CompleteConfig, context: TrainRunOptions): Promise<Parts> {
  const { signal, modules, loadModel: load = loadFrom } = context;
  const model = await load(config);
  signal?.throwIfAborted();
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const prompts = await loadRunPrompts(config, { tokenizer, contextLength });
  signal?.throwIfAborted();
  const rewards = await loadRewards(config, { model, modules });
  return { trainer: new PPOTrainer(pick(config, ppoConfigShape), { model, ...rewards }), prompts };
}

async function train(
  config: CompleteConfig,
  { trainer, prompts, run, signal, onEvent }: TrainRunOptions & Parts & { readonly run: RunFolder },
): Promise<TrainRunResult> {
  const sink = new MetricSink(run);
  const emit = async (event: TrainEvent) => {
    sink.handle(event);
    await onEvent?.(event);
  };
  try {
    const dropped = describeDropped(prompts.report);
    const warnings = [...(run.resumedFrom?.warnings ?? []), ...(dropped ? [dropped] : [])];
    for (const message of warnings) await emit({ type: 'warning', step: 0, message });
    const results = await trainer.train(prompts.train, {
      ...pick(config, trainingConfigShape),
      validationPrompts: prompts.validation,
      onEvent: emit,
      signal,
      saveCheckpoint: (write, { step, isBest }) => run.checkpoints.save(step, write, { isBest }),
      resumeFrom: run.resumedFrom?.folder,
    });
    const modelFolder = join(run.path, 'model');
    const isDone = results.reason !== 'interrupted';
    if (isDone) await trainer.saveModel(modelFolder);
    return {
      ...results,
      folder: run.path,
      modelFolder: isDone ? modelFolder : undefined,
      evaluations: await readFirstAndLast(run.path),
      best: await findBestCheckpoint(run.path),
    };
  } finally {
    sink.close();
  }
}

function loadFrom({ modelName, revision }: RunConfig): Promise<LoadedModel> {
  return loadModel(modelName, revision === undefined ? {} : { revision });
}

/** The part of a config that another schema describes. */
function pick<S extends object, K extends keyof S & string>(
  config: S,
  shape: Readonly<Record<K, unknown>>,
): Pick<S, K> {
  const keys = Object.keys(shape) as K[];
  return Object.fromEntries(keys.map((key) => [key, config[key]])) as Pick<S, K>;
}
