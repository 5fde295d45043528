import { createTokenPool } from '../columns/index.ts';
import { sftConfigShape } from '../config/stage-config.ts';
import {
  type SFTRunConfig,
  type SFTRunConfigOptions,
  sftDataShape,
  sftKind,
} from '../config/stage-run-config.ts';
import {
  type CompletionDataset,
  type CompletionRecord,
  type DataFile,
  loadCompletions,
  type RowReport,
} from '../data/index.ts';
import type { LoadedModel } from '../models/index.ts';
import { SFTTrainer } from '../stages/index.ts';
import type { LearnedText } from '../training/index.ts';
import { findAdapter, resolveStart } from './find-model.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { count, type DataContext, describeBadRows, pick } from './run-data.ts';
import { adapterInputs, dataInputs } from './run-inputs.ts';
import {
  type ResumeOptions,
  type RunOptions,
  type RunResult,
  type RunWork,
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
export async function resumeSFTRun(
  folder: string,
  { maxSteps, ...options }: ResumeOptions<RunOptions> = {},
): Promise<SFTRunResult> {
  const config = await readConfigOf(folder, sftKind, { maxSteps });
  return sftRun(config, { ...options, resume: true });
}

async function prepare(config: SFTRunConfig, model: LoadedModel): Promise<RunWork<RunData>> {
  const contextLength = model.base.architecture.config.max_position_embeddings;
  const { tokenizer } = model;
  const files: DataFile[] = [];
  const onFile = (file: DataFile) => void files.push(file);
  const dataset = await loadRunCompletions(config, { tokenizer, contextLength, onFile });
  const { report } = dataset;
  const adapter = config.adapter === undefined ? undefined : await findAdapter(config.adapter);
  const trainer = new SFTTrainer({ ...pick(config, sftConfigShape), adapter }, { model });
  const [texts, validation] = [toTexts(dataset.train), toTexts(dataset.validation)];
  return {
    report,
    ranking: lowestLoss,
    inputs: [
      ...(await dataInputs(files, config)),
      ...(await adapterInputs(adapter, 'the initial adapter')),
    ],
    warnings: describeTextWarnings(dataset, { maxTokens: config.maxTokens, contextLength }),
    train: (options) => trainer.train(texts, { ...options, validation }),
    saveModel: (folder) => trainer.saveModel(folder, { merged: config.merged }),
    loadCheckpoint: (folder) => trainer.loadCheckpoint(folder, texts),
    result: () => ({
      report,
      items: { unit: 'texts', train: texts.length, validation: validation.length },
    }),
  };
}

/** Loads the texts of a run. */
export function loadRunCompletions(
  config: SFTRunConfig,
  { tokenizer, contextLength, onFile }: DataContext,
): Promise<CompletionDataset> {
  const { data, ...options } = pick(config, sftDataShape);
  const { seed } = config;
  return loadCompletions(data, tokenizer, { ...options, seed, contextLength, hub: { onFile } });
}

/** Says which rows were left out and how many texts were truncated, in one sentence each. */
export function describeTextWarnings(
  { report }: CompletionDataset,
  { maxTokens, contextLength }: { maxTokens: number | undefined; contextLength: number },
): string[] {
  const limit = Math.min(maxTokens ?? Infinity, contextLength);
  const texts = `${report.truncated} of ${count(report.kept, 'text')}`;
  const truncated = report.truncated > 0 ? [`Truncated ${texts} to ${limit} tokens`] : [];
  return [...describeBadRows(report), ...truncated];
}

/** @example mask [0, 0, 1, 1]  →  learned [2, 3] */
function toTexts(records: readonly CompletionRecord[]): LearnedText[] {
  const pool = createTokenPool();
  return records.map(({ tokens, lossMask }) => {
    const learned = [...lossMask.keys()].filter((position) => lossMask[position] === 1);
    return { tokens, learned: pool.add(Int32Array.from(learned)) };
  });
}
