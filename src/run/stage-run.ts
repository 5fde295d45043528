import { join } from 'node:path';
import type { AnyRunConfig } from '../config/run-kind.ts';
import type { RowReport } from '../data/index.ts';
import { writeAtomically } from '../fs/index.ts';
import type { LoopOptions, LoopResult, TrainEvent } from '../loop/index.ts';
import type { LoadedModel } from '../models/index.ts';
import { describeBadRows } from './describe-rows.ts';
import { MetricSink } from './metric-sink.ts';
import { type FirstAndLastValidation, readValidations } from './read-validations.ts';
import { forgetRequests, RunControl } from './run-control.ts';
import type { RunFolder } from './run-folder.ts';
import { inRunFolder, loadNamedModel } from './run-work.ts';

export interface StageRunOptions {
  /** Go on with the run in the config's `output`; false by default. */
  readonly resume?: boolean | undefined;
  /** Ends the run in order: what is done is saved. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** How to load the config's model, such as with a progress bar. */
  readonly loadModel?: ((config: AnyRunConfig) => Promise<LoadedModel>) | undefined;
}

/** How a run ended, and where it lies. */
export interface StageRunResult {
  readonly folder: string;
  /** Undefined if the run was interrupted. */
  readonly modelFolder: string | undefined;
  readonly steps: number;
  readonly reason: LoopResult['reason'];
  /** The same for people. */
  readonly message: string;
  /** Undefined without rows to validate on. */
  readonly validations: FirstAndLastValidation | undefined;
  /** The model with the lowest validation loss, where that is not the last. */
  readonly best: { readonly step: number; readonly folder: string } | undefined;
  /** What became of the rows. */
  readonly report: RowReport;
  readonly items: StageItems;
}

/** What there is to learn from, and to validate on. */
export interface StageItems {
  readonly unit: 'texts' | 'pairs' | 'ratings';
  readonly train: number;
  readonly validation: number;
}

/** What a stage does with its data. */
export interface StageWork {
  readonly report: RowReport;
  readonly items: StageItems;
  /** Sentences for people, besides that about bad rows. */
  readonly warnings: readonly string[];
  train(options: LoopOptions): Promise<LoopResult>;
  /** Restores the weights of a checkpoint. */
  restore(folder: string): Promise<void>;
  save(folder: string): Promise<void>;
}

type CompleteConfig = AnyRunConfig & { readonly output: string };

/** A whole run of a stage on the disk: config, logs, checkpoints and, at the end, the model. */
export async function runStage(
  config: CompleteConfig,
  context: StageRunOptions,
  open: (model: LoadedModel) => Promise<StageWork>,
): Promise<StageRunResult> {
  const { signal, loadModel: load = loadNamedModel } = context;
  return inRunFolder(config, context, {
    prepare: async () => {
      forgetRequests(config.output);
      const model = await load(config);
      signal?.throwIfAborted();
      const work = await open(model);
      signal?.throwIfAborted();
      return { model, work };
    },
    train: async (run, { model, work }) => {
      try {
        return await train(run, { ...context, work });
      } finally {
        if (context.loadModel === undefined) await model.base.dispose();
      }
    },
  });
}

async function train(
  run: RunFolder,
  { work, signal, onEvent }: StageRunOptions & { readonly work: StageWork },
): Promise<StageRunResult> {
  const { report, items } = work;
  await writeAtomically(join(run.path, 'data.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  const sink = new MetricSink(run);
  const emit = async (event: TrainEvent) => {
    sink.handle(event);
    await onEvent?.(event);
  };
  const control = new RunControl(run, { signal, emit });
  try {
    const warnings = [
      ...(run.resumedFrom?.warnings ?? []),
      ...describeBadRows(report),
      ...work.warnings,
    ];
    for (const message of warnings) await emit({ type: 'warning', step: 0, message });
    const { steps, reason } = await work.train({
      onEvent: emit,
      signal: control.signal,
      control,
      saveCheckpoint: (write, { step, isBest }) => run.checkpoints.save(step, write, { isBest }),
      resumeFrom: run.resumedFrom?.folder,
    });
    const models =
      reason === 'completed'
        ? await saveModels(run, { work, steps })
        : { modelFolder: undefined, best: undefined };
    const validations = await readValidations(run.path);
    const { message = '' } = run.state;
    return { folder: run.path, ...models, steps, reason, message, validations, report, items };
  } finally {
    control.close();
    sink.close();
  }
}

/** Saves the last model, and the best where an earlier step did better. */
async function saveModels(
  run: RunFolder,
  { work, steps }: { readonly work: StageWork; readonly steps: number },
): Promise<Pick<StageRunResult, 'modelFolder' | 'best'>> {
  const modelFolder = join(run.path, 'model');
  await work.save(modelFolder);
  const found = await run.checkpoints.best();
  if (found === undefined || found.step === steps) return { modelFolder, best: undefined };
  await work.restore(found.folder);
  const folder = join(run.path, 'best');
  await work.save(folder);
  return { modelFolder, best: { step: found.step, folder } };
}
