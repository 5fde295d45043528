import { join } from 'node:path';
import { ppoConfigShape } from '../config/ppo-config.ts';
import {
  type RunConfig,
  type RunConfigOptions,
  type RunKind,
  resolveRunConfig,
  runConfigShape,
} from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import type { PromptDataset } from '../data/index.ts';
import type { TrainEvent } from '../loop/events.ts';
import type { LoadedModel } from '../models/index.ts';
import { PPOTrainer, type TrainingResults } from '../ppo-trainer/ppo-trainer.ts';
import { type BestCheckpoint, findBestCheckpoint } from './best-checkpoint.ts';
import { findPolicy } from './evaluate-policy.ts';
import { describeFit, fitMemory } from './fit-memory.ts';
import { evaluationWithoutPeople, type HumanEvaluation } from './human-evaluation.ts';
import { humanFolder } from './human-scores.ts';
import { describeDropped, loadRunPrompts } from './load-run-prompts.ts';
import { MetricSink } from './metric-sink.ts';
import { type FirstAndLast, readFirstAndLast } from './read-evaluations.ts';
import { checkRewards, loadRewards, type RunRewards } from './reward-specs.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { forgetRequests, RunControl } from './run-control.ts';
import type { RunFolder } from './run-folder.ts';
import { inRunFolder, loadNamedModel, pick } from './run-work.ts';

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
  checkRewards(config);
  return inRunFolder(config, context, {
    prepare: () => prepare(config, context),
    train: async (run, parts) => {
      try {
        return await train(config, { ...context, ...parts, run });
      } finally {
        await parts.trainer.dispose();
      }
    },
  });
}

/** Goes on with the run in a folder exactly, from its latest whole checkpoint. */
export async function resumeRun(
  folder: string,
  context: Omit<TrainRunOptions, 'resume'> = {},
): Promise<TrainRunResult> {
  return trainRun(await readResumedConfig(folder), { ...context, resume: true });
}

/** `proximal train` */
export const trainKind: RunKind<RunConfigOptions, RunConfig> = {
  command: 'train',
  prefix: 'ppo',
  shape: runConfigShape,
  resolve: resolveRunConfig,
};

/** The config to go on with the run in a folder, which may have been moved. */
export function readResumedConfig(folder: string): Promise<RunConfig> {
  return readConfigOf(folder, trainKind);
}

type CompleteConfig = RunConfig & { readonly output: string };

/** A run's config with its folder and with absolute paths, so that it can be resumed from anywhere. */
export function completeRunConfig(options: RunConfigOptions): CompleteConfig {
  return completeConfig(options, trainKind);
}

interface Parts {
  readonly trainer: PPOTrainer;
  readonly prompts: PromptDataset;
  readonly live: RunRewards['live'];
  readonly evaluation: HumanEvaluation | undefined;
  /** How the run fits into its memory, where that is limited. */
  readonly plan: string | undefined;
}

async function prepare(config: CompleteConfig, context: TrainRunOptions): Promise<Parts> {
  const { signal, modules, loadModel: load = loadNamedModel } = context;
  forgetRequests(config.output);
  const model = await load(config);
  signal?.throwIfAborted();
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const prompts = await loadRunPrompts(config, { tokenizer, contextLength });
  signal?.throwIfAborted();
  const opened = { model, modules, humanFolder: humanFolder(config.output) };
  const { live, ...rewards } = await loadRewards(config, opened);
  const evaluation = evaluationWithoutPeople({ live, ...rewards });
  const fitted = fitMemory(config, { architecture: base.architecture, prompts });
  const { adapter, ...ppo } = pick(fitted.config, ppoConfigShape);
  const start = adapter === undefined ? {} : { adapter: await findPolicy(adapter) };
  const parts = { model, ...rewards, replace: evaluation?.replace };
  const trainer = new PPOTrainer({ ...ppo, ...start }, parts);
  const plan = config.memory === undefined ? undefined : describeFit(fitted);
  return { trainer, prompts, live, evaluation, plan };
}

async function train(
  config: CompleteConfig,
  parts: TrainRunOptions & Parts & { readonly run: RunFolder },
): Promise<TrainRunResult> {
  const { trainer, prompts, run, signal, onEvent, live, evaluation, plan } = parts;
  const sink = new MetricSink(run);
  const emit = async (event: TrainEvent) => {
    sink.handle(event);
    await onEvent?.(event);
  };
  const control = new RunControl(run, { signal, emit });
  live?.listen({
    step: () => control.nextStep,
    onWait: (missing) => control.waitForPeople(missing),
    warn: (message) => emit({ type: 'warning', step: run.state.step, message }),
  });
  try {
    if (plan !== undefined) await emit({ type: 'plan', step: 0, message: plan });
    for (const message of warningsOf(parts)) await emit({ type: 'warning', step: 0, message });
    const results = await trainer.train(prompts.train, {
      ...pick(config, trainingConfigShape),
      validationPrompts: evaluation?.canEvaluate === false ? [] : prompts.validation,
      onEvent: emit,
      signal: control.signal,
      control,
      saveCheckpoint: (write, { step, isBest }) => run.checkpoints.save(step, write, { isBest }),
      resumeFrom: run.resumedFrom?.folder,
    });
    return await finish(results, { run, trainer });
  } finally {
    control.close();
    sink.close();
  }
}

/** Saves the model of a run that is done. */
async function finish(
  results: TrainingResults,
  { run, trainer }: { readonly run: RunFolder; readonly trainer: PPOTrainer },
): Promise<TrainRunResult> {
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
}

function warningsOf({ run, prompts, evaluation }: Parts & { readonly run: RunFolder }): string[] {
  const dropped = describeDropped(prompts.report);
  const isShort = evaluation !== undefined && prompts.validation.length > 0;
  return [
    ...(run.resumedFrom?.warnings ?? []),
    ...(dropped ? [dropped] : []),
    ...(isShort ? [evaluation.warning] : []),
  ];
}
