import { resolveSFTConfig, type SFTConfig, sftConfigShape } from '../config/stage-config.ts';
import {
  type SFTRunConfig,
  type SFTRunConfigOptions,
  sftDataShape,
  sftKind,
} from '../config/stage-run-config.ts';
import {
  type CompletionDataset,
  type CompletionRecord,
  loadCompletions,
  type RowReport,
} from '../data/index.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import type { LoadedModel } from '../models/index.ts';
import { SFTTrainer } from '../stages/index.ts';
import type { LearnedText } from '../training/index.ts';
import { resolveStart } from './find-model.ts';
import { completeConfig } from './run-config-files.ts';
import { count, type DataContext, describeBadRows, pick } from './run-data.ts';
import { type RunSources, readSources } from './run-sources.ts';
import {
  type ResumeOptions,
  type RunOptions,
  type RunResult,
  type RunWork,
  resumeTraining,
  runTraining,
} from './run-training.ts';

/** The data of a run: how many items there are and which rows were left out. */
export interface RunData {
  readonly report: RowReport;
  readonly items: {
    readonly unit: 'texts' | 'pairs' | 'ratings';
    readonly train: number;
    readonly validation: number;
  };
}

/** The best model of SFT and reward-model training has the lowest validation loss. */
export const lowestLoss = { metric: 'eval/loss', label: 'validation loss' };

/** The result of a supervised fine-tuning run. */
export type SFTRunResult = RunResult & RunData;

/** Runs supervised fine-tuning on disk: config, logs, checkpoints and, at the end, the adapter or the
 *  whole model.
 *  @example
 *  const { modelFolder } = await sftRun({ data: 'texts.jsonl', output: 'runs/sft' }); */
export async function sftRun(
  config: SFTRunConfigOptions,
  options: RunOptions = {},
): Promise<SFTRunResult> {
  const { config: complete } = await resolveStart(completeConfig(config, sftKind));
  return runTraining(complete, { ...options, prepare: (model) => prepare(complete, model) });
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly, or for another
 *  number of steps if `maxSteps` is set. */
export function resumeSFTRun(
  folder: string,
  options: ResumeOptions<RunOptions> = {},
): Promise<SFTRunResult> {
  return resumeTraining(folder, { kind: sftKind, run: sftRun }, options);
}

async function prepare(config: SFTRunConfig, model: LoadedModel): Promise<RunWork<RunData>> {
  const { data, inputs, trainerConfig, warnings } = await readSFTSources(config, model);
  const { report } = data;
  const trainer = new SFTTrainer(trainerConfig, { model });
  await trainer.model();
  const [texts, validation] = [data.train.map(toText), data.validation.map(toText)];
  return {
    ...{ report, ranking: lowestLoss, inputs, warnings },
    train: (options) => trainer.train(texts, { ...options, validation }),
    saveModel: (folder) => trainer.saveModel(folder, { merged: config.merged }),
    loadCheckpoint: (folder) => trainer.loadCheckpoint(folder, texts),
    result: () => ({
      report,
      items: { unit: 'texts', train: texts.length, validation: validation.length },
    }),
  };
}

/** What a run reads, and the config of its trainer. */
export interface StageSources<D, C> extends RunSources<D> {
  readonly trainerConfig: C;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

/** Reads everything that a run trains on. */
export async function readSFTSources(
  config: SFTRunConfig,
  model: ModelHeader,
): Promise<StageSources<CompletionDataset, SFTConfig>> {
  const load = (context: DataContext) => loadRunCompletions(config, context);
  const sources = await readSources(config, { model, load });
  const { data, start } = sources;
  const contextLength = model.base.architecture.config.max_position_embeddings;
  return {
    ...sources,
    trainerConfig: resolveSFTConfig({ ...pick(config, sftConfigShape), adapter: start?.folder }),
    warnings: [
      ...(start?.warning === undefined ? [] : [start.warning]),
      ...describeTextWarnings(data, { maxTokens: config.maxTokens, contextLength }),
    ],
  };
}

/** Loads the texts of a run. */
function loadRunCompletions(
  config: SFTRunConfig,
  { tokenizer, contextLength, onFile }: DataContext,
): Promise<CompletionDataset> {
  const { data, ...options } = pick(config, sftDataShape);
  const { seed } = config;
  return loadCompletions(data, tokenizer, { ...options, seed, contextLength, hub: { onFile } });
}

/** Says which rows were left out and how many texts were truncated, in one sentence each. */
function describeTextWarnings(
  { report }: CompletionDataset,
  { maxTokens, contextLength }: { maxTokens: number | undefined; contextLength: number },
): string[] {
  const limit = Math.min(maxTokens ?? Infinity, contextLength);
  const texts = `${report.truncated} of ${count(report.kept, 'text')}`;
  const truncated = report.truncated > 0 ? [`Truncated ${texts} to ${limit} tokens`] : [];
  return [...describeBadRows(report), ...truncated];
}

/** @example mask [0, 0, 1, 1]  →  learned [2, 3] */
function toText({ tokens, lossMask }: CompletionRecord): LearnedText {
  const learned = [...lossMask.keys()].filter((position) => lossMask[position] === 1);
  return { tokens, learned: Int32Array.from(learned) };
}
