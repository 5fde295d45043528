import { sftConfigShape } from '../config/stage-config.ts';
import {
  type SFTRunConfig,
  type SFTRunConfigOptions,
  sftDataShape,
  sftKind,
} from '../config/stage-run-config.ts';
import { type CompletionDataset, type CompletionRecord, loadCompletions } from '../data/index.ts';
import type { LoadedModel } from '../models/index.ts';
import { SFTTrainer } from '../stages/index.ts';
import type { LearnedText } from '../training/index.ts';
import { count } from './describe-rows.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { pick } from './run-work.ts';
import {
  runStage,
  type StageRunOptions,
  type StageRunResult,
  type StageWork,
} from './stage-run.ts';

/** A whole run of supervised fine-tuning on the disk: config, logs, checkpoints and, at the end,
 *  the adapter or the model.
 *  @example
 *  const { modelFolder } = await sftRun({ data: 'texts.jsonl', output: 'runs/sft' }); */
export async function sftRun(
  options: SFTRunConfigOptions,
  context: StageRunOptions = {},
): Promise<StageRunResult> {
  const config = completeConfig(options, sftKind);
  return runStage(config, context, (model) => open(config, model));
}

/** Goes on with the run in a folder exactly, from its latest whole checkpoint. */
export async function resumeSFTRun(
  folder: string,
  context: Omit<StageRunOptions, 'resume'> = {},
): Promise<StageRunResult> {
  return sftRun(await readConfigOf(folder, sftKind), { ...context, resume: true });
}

/** The texts that a config names, for a model with this tokenizer and context. */
export function loadRunCompletions(
  config: SFTRunConfig,
  { tokenizer, contextLength }: Pick<LoadedModel, 'tokenizer'> & { contextLength: number },
): Promise<CompletionDataset> {
  const { data, ...options } = pick(config, sftDataShape);
  return loadCompletions(data, tokenizer, { ...options, seed: config.seed, contextLength });
}

/** What was cut off, in one sentence. */
export function describeTruncated(
  { report }: CompletionDataset,
  { maxTokens, contextLength }: { maxTokens: number | undefined; contextLength: number },
): string[] {
  const limit = Math.min(maxTokens ?? Infinity, contextLength);
  return report.truncated === 0
    ? []
    : [`Cut ${count(report.truncated, 'text')} of ${report.kept} to ${limit} tokens`];
}

async function open(config: SFTRunConfig, model: LoadedModel): Promise<StageWork> {
  const contextLength = model.base.architecture.config.max_position_embeddings;
  const { tokenizer } = model;
  const dataset = await loadRunCompletions(config, { tokenizer, contextLength });
  const trainer = new SFTTrainer(pick(config, sftConfigShape), { model });
  const [texts, validation] = [dataset.train.map(toText), dataset.validation.map(toText)];
  return {
    report: dataset.report,
    items: { unit: 'texts', train: texts.length, validation: validation.length },
    warnings: describeTruncated(dataset, { maxTokens: config.maxTokens, contextLength }),
    train: (options) => trainer.train(texts, { ...options, validation }),
    restore: (folder) => trainer.loadCheckpoint(folder, texts),
    save: (folder) => trainer.saveModel(folder, { merged: config.merged }),
  };
}

/** @example mask [0, 0, 1, 1]  →  learned [2, 3] */
function toText({ tokens, lossMask }: CompletionRecord): LearnedText {
  const places = [...lossMask.keys()].filter((place) => lossMask[place] === 1);
  return { tokens, learned: Int32Array.from(places) };
}
