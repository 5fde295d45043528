import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyRunConfig } from '../config/run-config.ts';
import type { RowReport } from '../data/index.ts';
import { writeAtomically } from '../fs/index.ts';
import {
  type EvaluationReport,
  evaluationMetrics,
  type LoopOptions,
  type LoopResult,
  type Metrics,
  type TrainEvent,
} from '../loop/index.ts';
import { type LoadedModel, loadModel } from '../models/index.ts';
import { readLogLines } from './log-files.ts';
import { MetricSink } from './metric-sink.ts';
import { clearRequests, RunControl } from './run-control.ts';
import { locateRunFiles, RunFolder } from './run-folder.ts';

/** Options of every run, besides its config. */
export interface RunOptions {
  /** Resume the run in the config's `output`; false by default. */
  readonly resume?: boolean | undefined;
  /** Stops the run cleanly: completed steps are saved. */
  readonly signal?: AbortSignal | undefined;
  /** Receives every event of the run; awaited except for `phase`. */
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** Loads the config's model, for example with a progress bar. The caller disposes it. */
  readonly loadModel?: ((config: AnyRunConfig) => Promise<LoadedModel>) | undefined;
}

/** How a run ended and where its files are. */
export interface RunResult extends Pick<LoopResult, 'steps' | 'reason' | 'message' | 'metrics'> {
  readonly folder: string;
  /** Undefined if the run was interrupted. */
  readonly modelFolder: string | undefined;
  /** The first and the last evaluation; undefined without validation data. */
  readonly evaluations: RunEvaluations | undefined;
  /** An earlier model that evaluated better than the last; undefined if the last is the best. */
  readonly best: { readonly step: number; readonly folder: string } | undefined;
}

/** An evaluation as the run logged it. */
export interface RunEvaluation {
  readonly step: number;
  /** `eval/…` */
  readonly metrics: Metrics;
  /** PPO only: responses and the convergence verdict. */
  readonly report: EvaluationReport | undefined;
}

/** May be the same evaluation twice. */
export interface RunEvaluations {
  readonly first: RunEvaluation;
  readonly last: RunEvaluation;
}

/** What one kind of run adds to the shared path.
 *  @typeParam D the fields that it adds to the result */
export interface RunWork<D extends object> {
  /** Report on the data, saved as `data.json`. */
  readonly report?: RowReport;
  /** How the run fits into its memory limit. */
  readonly memoryPlan?: string | undefined;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
  /** Called before training, for parts that wait or warn while it runs. */
  connect?(control: RunControl, warn: (message: string) => Promise<void>): void;
  train(options: LoopOptions): Promise<LoopResult>;
  saveModel(folder: string): Promise<void>;
  /** Makes the model of a checkpoint available. Returns its folder.
   *  @param target where to write it if the checkpoint itself is not enough */
  saveBest(checkpoint: string, target: string): Promise<string>;
  /** Called after the models are saved. */
  result(): D;
  dispose?(): Promise<void>;
}

interface Preparation<D extends object> {
  /** Loads the data and builds the trainer. */
  prepare(model: LoadedModel): Promise<RunWork<D>>;
}

/** Runs a training on disk: folder and lock, model, logs, control, checkpoints and the final model, the
 *  same for PPO, supervised fine-tuning and reward models. A run that fails before its first step
 *  leaves no folder behind. */
export async function runTraining<
  C extends AnyRunConfig & { readonly output: string },
  D extends object,
>(config: C, { prepare, ...options }: RunOptions & Preparation<D>): Promise<RunResult & D> {
  const { resume = false, signal, loadModel: load = loadNamedModel } = options;
  const { output, keepCheckpoints } = config;
  const run = await RunFolder.create(output, { config, keepCheckpoints, resume });
  let hasStarted = resume;
  let [model, work]: [LoadedModel | undefined, RunWork<D> | undefined] = [undefined, undefined];
  try {
    clearRequests(output);
    model = await load(config);
    signal?.throwIfAborted();
    work = await prepare(model);
    signal?.throwIfAborted();
    hasStarted = true;
    return await train(run, { ...options, work });
  } catch (error) {
    const status = signal?.aborted ? 'interrupted' : 'failed';
    run.update({ status, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    await work?.dispose?.();
    if (options.loadModel === undefined) await model?.base.dispose();
    run.close();
    if (!hasStarted) await rm(output, { recursive: true });
  }
}

/** Loads the model that a config names. */
function loadNamedModel({ modelName, revision }: AnyRunConfig): Promise<LoadedModel> {
  return loadModel(modelName, revision === undefined ? {} : { revision });
}

async function train<D extends object>(
  run: RunFolder,
  { work, signal, onEvent }: RunOptions & { readonly work: RunWork<D> },
): Promise<RunResult & D> {
  if (work.report !== undefined) {
    const json = `${JSON.stringify(work.report, undefined, 2)}\n`;
    await writeAtomically(join(run.path, 'data.json'), json);
  }
  const sink = new MetricSink(run);
  const emit = async (event: TrainEvent) => {
    sink.handle(event);
    await onEvent?.(event);
  };
  const warn = (message: string) => emit({ type: 'warning', step: run.state.step, message });
  const control = new RunControl(run, { signal, emit });
  work.connect?.(control, warn);
  try {
    const { memoryPlan } = work;
    if (memoryPlan !== undefined) await emit({ type: 'plan', step: 0, message: memoryPlan });
    for (const message of [...(run.resumedFrom?.warnings ?? []), ...work.warnings]) {
      await emit({ type: 'warning', step: 0, message });
    }
    const result = await work.train({
      onEvent: emit,
      signal: control.signal,
      control,
      saveCheckpoint: (write, { step, isBest }) => run.checkpoints.save(step, write, { isBest }),
      resumeFrom: run.resumedFrom?.folder,
    });
    return await finish(run, { work, result });
  } finally {
    control.close();
    sink.close();
  }
}

/** Saves the last model, and the best one if an earlier step did better. */
async function finish<D extends object>(
  run: RunFolder,
  { work, result }: { readonly work: RunWork<D>; readonly result: LoopResult },
): Promise<RunResult & D> {
  const { steps, reason, message, metrics } = result;
  const modelFolder = reason === 'interrupted' ? undefined : join(run.path, 'model');
  let best: RunResult['best'];
  if (modelFolder !== undefined) {
    await work.saveModel(modelFolder);
    const checkpoint = await run.checkpoints.best();
    if (checkpoint !== undefined && checkpoint.step !== steps) {
      const folder = await work.saveBest(checkpoint.folder, join(run.path, 'best'));
      best = { step: checkpoint.step, folder };
    }
  }
  const evaluations = await readEvaluations(run.path);
  return {
    ...{ folder: run.path, modelFolder, steps, reason, message, metrics, evaluations, best },
    ...work.result(),
  };
}

/** Reads the first and the last evaluation of a run; undefined if there is none. */
async function readEvaluations(run: string): Promise<RunEvaluations | undefined> {
  const lines = await readLogLines(locateRunFiles(run).evaluations);
  if (lines.length === 0) return undefined;
  return { first: parseEvaluation(lines[0]!), last: parseEvaluation(lines.at(-1)!) };
}

/** PPO logs a report, the other kinds log metrics. JSON has null for NaN. */
function parseEvaluation(line: string): RunEvaluation {
  const { step, ...rest } = JSON.parse(line);
  const restoreNaN = (numbers: object) =>
    Object.fromEntries(Object.entries(numbers).map(([name, x]) => [name, x ?? Number.NaN]));
  if (rest.performance === undefined) return { step, metrics: restoreNaN(rest), report: undefined };
  const report: EvaluationReport = { ...rest, performance: restoreNaN(rest.performance) };
  return { step, metrics: evaluationMetrics(report), report };
}
