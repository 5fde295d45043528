import { join } from 'node:path';
import type { AnyRunConfig, RunKind } from '../config/run-config.ts';
import type { PromptReport, RowReport } from '../data/index.ts';
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
import { type ModelChoice, type Ranking, saveFinalModel } from './final-model.ts';
import { type HumanEvaluationRow, isHumanEvaluation } from './human-evaluation.ts';
import { readLogLines } from './log-files.ts';
import { expectLogRows } from './log-rows.ts';
import { MetricSink } from './metric-sink.ts';
import { readHumanEvaluations } from './record-human-evaluation.ts';
import { readConfigOf } from './run-config-files.ts';
import { clearRequests, RunControl } from './run-control.ts';
import { locateRunFiles, RunFolder } from './run-folder.ts';
import { compareInputs, modelInputs, type RunInput, recordInputs } from './run-inputs.ts';
import { removeRun } from './run-place.ts';

/** Options of every run, besides its config. */
export interface RunOptions {
  /** Resume the run in the config's `output`; false by default. */
  readonly resume?: boolean | undefined;
  /** Resume although data, rewards, the base or other files have changed since the run started, or rows
   *  of its logs are missing; false by default. */
  readonly allowChangedInputs?: boolean | undefined;
  /** Resume although the user has not run the reward files that the folder's config names: code that
   *  may come from somebody else; false by default. */
  readonly trust?: boolean | undefined;
  /** Stops the run cleanly: completed steps are saved. */
  readonly signal?: AbortSignal | undefined;
  /** Receives every event of the run; awaited except for `phase`. */
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** Loads the config's model, for example with a progress bar. The caller disposes it. */
  readonly loadModel?: ((config: AnyRunConfig) => Promise<LoadedModel>) | undefined;
}

/** Options of a resumed run. */
export type ResumeOptions<O extends RunOptions> = Omit<O, 'resume'> & {
  /** Another number of steps for the whole run, to extend or shorten it. */
  readonly maxSteps?: number | undefined;
};

/** A command's runs: how its config is read and how one starts. */
interface ResumableRun<O extends object, C extends AnyRunConfig & O, P extends RunOptions, R> {
  readonly kind: RunKind<O, C>;
  readonly run: (config: O, options: P) => Promise<R>;
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly, or for another
 *  number of steps if `maxSteps` is set. */
export async function resumeTraining<
  O extends object,
  C extends AnyRunConfig & O,
  P extends RunOptions,
  R,
>(
  folder: string,
  { kind, run }: ResumableRun<O, C, P, R>,
  { maxSteps, ...options }: ResumeOptions<P>,
): Promise<R> {
  const config = await readConfigOf(folder, kind, { maxSteps });
  return run(config, { ...options, resume: true } as unknown as P);
}

/** How a run ended and where its files are. */
export interface RunResult extends Pick<LoopResult, 'steps' | 'reason' | 'message' | 'metrics'> {
  readonly folder: string;
  /** The best model by validation, or the last without validation; undefined if the run was
   *  interrupted. */
  readonly modelFolder: string | undefined;
  /** Which model that is, and why. */
  readonly model: ModelChoice | undefined;
  /** The last model if it is not the one in `modelFolder`. */
  readonly lastFolder: string | undefined;
  /** Undefined without validation data. */
  readonly evaluations: RunEvaluations | undefined;
  /** Evaluations by people; none unless the run was resumed after them. */
  readonly human: readonly HumanEvaluationRow[];
}

/** An evaluation as the run logged it. */
export interface RunEvaluation {
  readonly step: number;
  /** `eval/…` */
  readonly metrics: Metrics;
  /** PPO only: responses and the convergence verdict. */
  readonly report: EvaluationReport | undefined;
}

/** Evaluations of a run; some may be the same. */
export interface RunEvaluations {
  readonly first: RunEvaluation;
  readonly last: RunEvaluation;
  /** Of the model that was saved; the last one if that step was not evaluated. */
  readonly model: RunEvaluation;
}

/** What one kind of run adds to the shared path.
 *  @typeParam D the fields that it adds to the result */
export interface RunWork<D extends object> {
  /** Report on the data, saved as `data.json`. */
  readonly report?: RowReport | PromptReport;
  /** What decides which model is the best. */
  readonly ranking: Ranking;
  /** Everything it reads, besides the base and the tokenizer. */
  readonly inputs: readonly RunInput[];
  /** How the run fits into its memory limit. */
  readonly memoryPlan?: string | undefined;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
  /** Called before training, for parts that wait or warn while it runs. */
  connect?(control: RunControl, warn: (message: string) => Promise<void>): void;
  train(options: LoopOptions): Promise<LoopResult>;
  saveModel(folder: string): Promise<void>;
  /** Restores the weights of a checkpoint. */
  loadCheckpoint(folder: string): Promise<void>;
  /** Called after the models are saved. */
  result(): D;
  dispose?(): Promise<void>;
}

/** Rejects inputs of a resumed run that have changed, unless that is allowed. */
export type CheckInputs = (inputs: readonly RunInput[]) => Promise<void>;

interface Preparation<D extends object> {
  /** Loads the data and builds the trainer.
   *  @param checkInputs for inputs that must be compared before they are loaded, such as code */
  prepare(model: LoadedModel, checkInputs: CheckInputs): Promise<RunWork<D>>;
}

/** Runs a training on disk: folder and lock, model, logs, control, checkpoints and the final model, the
 *  same for PPO, supervised fine-tuning and reward models. A run that cannot start leaves no folder
 *  behind, and one that cannot be resumed is left unchanged. */
export async function runTraining<
  C extends AnyRunConfig & { readonly output: string },
  D extends object,
>(config: C, { prepare, ...options }: RunOptions & Preparation<D>): Promise<RunResult & D> {
  const { resume = false, signal, loadModel: load = loadNamedModel } = options;
  const allowChanged = options.allowChangedInputs ?? false;
  const { output, keepCheckpoints } = config;
  const run = await RunFolder.create(output, { config, keepCheckpoints, resume });
  let [isPrepared, hasStarted] = [false, false];
  const onEvent = async (event: TrainEvent) => {
    hasStarted ||= event.type === 'run-start';
    await options.onEvent?.(event);
  };
  let [model, work]: [LoadedModel | undefined, RunWork<D> | undefined] = [undefined, undefined];
  try {
    const lost = await expectLogRows(output, run.resumedFrom, { allowMissing: allowChanged });
    clearRequests(output);
    model = await load(config);
    signal?.throwIfAborted();
    const comparison = { resume: run.resumedFrom !== undefined, allowChanged };
    const base = await modelInputs(model);
    work = await prepare(model, async (inputs) => {
      await compareInputs(output, [...base, ...inputs], comparison);
    });
    signal?.throwIfAborted();
    const changes = await recordInputs(output, [...base, ...work.inputs], comparison);
    isPrepared = true;
    return await train(run, { ...options, onEvent, work, changes: [...lost, ...changes] });
  } catch (error) {
    const status = signal?.aborted ? 'interrupted' : 'failed';
    if (resume && !hasStarted) await run.revert();
    else run.update({ status, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    await work?.dispose?.();
    if (options.loadModel === undefined) await model?.base.dispose();
    run.close();
    if (!resume && !isPrepared) await removeRun(output);
  }
}

/** Loads the model that a config names. */
function loadNamedModel({
  modelName,
  revision,
  basePrecision,
  device,
}: AnyRunConfig): Promise<LoadedModel> {
  return loadModel(modelName, {
    basePrecision,
    device,
    ...(revision !== undefined && { revision }),
  });
}

interface PreparedRun<D extends object> {
  readonly work: RunWork<D>;
  /** What changed since the run started, in sentences. */
  readonly changes: readonly string[];
}

async function train<D extends object>(
  run: RunFolder,
  { work, changes, signal, onEvent }: RunOptions & PreparedRun<D>,
): Promise<RunResult & D> {
  await run.truncateLogs();
  if (work.report !== undefined) {
    const json = `${JSON.stringify(work.report, undefined, 2)}\n`;
    await writeAtomically(join(run.path, 'data.json'), json);
  }
  const sink = new MetricSink(run);
  const emit = async (event: TrainEvent) => {
    // The state says that the run has ended only once its model is saved.
    if (event.type !== 'run-end') sink.handle(event);
    await onEvent?.(event);
  };
  const warn = (message: string) => emit({ type: 'warning', step: run.state.step, message });
  const control = new RunControl(run, { signal, emit });
  work.connect?.(control, warn);
  try {
    const { memoryPlan } = work;
    if (memoryPlan !== undefined) await emit({ type: 'plan', step: 0, message: memoryPlan });
    const notes = [...run.notes, ...(run.resumedFrom?.warnings ?? []), ...changes];
    for (const message of [...notes, ...work.warnings]) {
      await emit({ type: 'warning', step: 0, message });
    }
    const result = await work.train({
      onEvent: emit,
      signal: control.signal,
      control,
      saveCheckpoint: (write, about) => sink.saveCheckpoint(write, about),
      resumeFrom: run.resumedFrom?.folder,
    });
    const ending = await finish(run, { work, result, warn });
    const { steps: step, reason, message } = result;
    sink.handle({ type: 'run-end', step, reason, message });
    return ending;
  } finally {
    control.close();
    sink.close();
  }
}

interface Ending<D extends object> {
  readonly work: RunWork<D>;
  readonly result: LoopResult;
  readonly warn: (message: string) => Promise<void>;
}

/** Saves the models of a run that was not interrupted. */
async function finish<D extends object>(
  run: RunFolder,
  { work, result, warn }: Ending<D>,
): Promise<RunResult & D> {
  const { steps, reason, message, metrics } = result;
  const lines = await readLogLines(locateRunFiles(run.path).evaluations);
  const measured = lines.filter((line) => !isHumanEvaluation(JSON.parse(line)));
  const evaluations = measured.map(parseEvaluation);
  const model =
    reason === 'interrupted'
      ? undefined
      : await saveFinalModel(run, {
          ...{ steps, evaluations, warn, ranking: work.ranking },
          saveModel: (folder) => work.saveModel(folder),
          loadCheckpoint: (folder) => work.loadCheckpoint(folder),
        });
  const isLast = model === undefined || model.step === steps;
  return {
    ...{ folder: run.path, steps, reason, message, metrics, model },
    modelFolder: model && join(run.path, 'model'),
    lastFolder: isLast ? undefined : join(run.path, 'last'),
    evaluations: selectEvaluations(evaluations, model?.step),
    human: await readHumanEvaluations(run.path),
    ...work.result(),
  };
}

function selectEvaluations(
  evaluations: readonly RunEvaluation[],
  modelStep: number | undefined,
): RunEvaluations | undefined {
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { first, last, model: evaluations.findLast(({ step }) => step === modelStep) ?? last };
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
