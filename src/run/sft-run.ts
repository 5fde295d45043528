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
  loadCompletions,
  type RowReport,
} from '../data/index.ts';
import type { LoadedModel } from '../models/index.ts';
import { SFTTrainer } from '../stages/index.ts';
import type { LearnedText } from '../training/index.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { count, type DataContext, describeBadRows, pick } from './run-data.ts';
import { type RunOptions, type RunResult, type RunWork, runTraining } from './run-training.ts';

/** The data of a run: how many items there are and which rows were left out. */
export interface RunData {
  readonly report: RowReport;
  readonly items: {
    readonly unit: 'texts' | 'pairs' | 'ratings';
    readonly train: number;
    readonly validation: number;
  };
}

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
  const complete = completeConfig(config, sftKind);
  return runTraining(complete, { ...options, prepare: (model) => prepare(complete, model) });
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly. */
export async function resumeSFTRun(
  folder: string,
  options: Omit<RunOptions, 'resume'> = {},
): Promise<SFTRunResult> {
  return sftRun(await readConfigOf(folder, sftKind), { ...options, resume: true });
}

async function prepare(config: SFTRunConfig, model: LoadedModel): Promise<RunWork<RunData>> {
  const contextLength = model.base.architecture.config.max_position_embeddings;
  const { tokenizer } = model;
  const dataset = await loadRunCompletions(config, { tokenizer, contextLength });
  const { report } = dataset;
  const trainer = new SFTTrainer(pick(config, sftConfigShape), { model });
  const [texts, validation] = [dataset.train.map(toText), dataset.validation.map(toText)];
  const saveModel = (folder: string) => trainer.saveModel(folder, { merged: config.merged });
  return {
    report,
    warnings: describeTextWarnings(dataset, { maxTokens: config.maxTokens, contextLength }),
    train: (options) => trainer.train(texts, { ...options, validation }),
    saveModel,
    saveBest: async (checkpoint, target) => {
      await trainer.loadCheckpoint(checkpoint, texts);
      await saveModel(target);
      return target;
    },
    result: () => ({
      report,
      items: { unit: 'texts', train: texts.length, validation: validation.length },
    }),
  };
}

/** Loads the texts of a run. */
export function loadRunCompletions(
  config: SFTRunConfig,
  { tokenizer, contextLength }: DataContext,
): Promise<CompletionDataset> {
  const { data, ...options } = pick(config, sftDataShape);
  return loadCompletions(data, tokenizer, { ...options, seed: config.seed, contextLength });
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
function toText({ tokens, lossMask }: CompletionRecord): LearnedText {
  const learned = [...lossMask.keys()].filter((position) => lossMask[position] === 1);
  return { tokens, learned: Int32Array.from(learned) };
}
