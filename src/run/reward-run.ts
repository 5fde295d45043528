import { concatInts } from '../columns/index.ts';
import {
  type RewardConfig,
  resolveRewardConfig,
  rewardConfigShape,
} from '../config/stage-config.ts';
import {
  type RewardRunConfig,
  type RewardRunConfigOptions,
  rewardDataShape,
  rewardKind,
} from '../config/stage-run-config.ts';
import { loadPreferences, type PreferenceDataset, type PreferenceGroup } from '../data/index.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import type { LoadedModel, ScoreNormalization } from '../models/index.ts';
import { type PreferenceTexts, type RatedText, RewardTrainer } from '../stages/index.ts';
import { pairMetrics } from '../stages/reward-objective.ts';
import { resolveStart } from './find-model.ts';
import { completeConfig } from './run-config-files.ts';
import { type DataContext, describeBadRows, pick } from './run-data.ts';
import { readSources } from './run-sources.ts';
import {
  type ResumeOptions,
  type RunOptions,
  type RunResult,
  type RunWork,
  resumeTraining,
  runTraining,
} from './run-training.ts';
import { lowestLoss, type RunData, type StageSources } from './sft-run.ts';

/** What a reward run adds to the result. */
interface RewardRunDetails extends RunData {
  /** On the validation pairs; undefined without them. */
  readonly lengthBaseline: LengthBaseline | undefined;
  /** How the saved model's scores are normalised; undefined if the run was interrupted. */
  readonly normalization: ScoreNormalization | undefined;
}

/** The result of a reward-model run. */
export type RewardRunResult = RunResult & RewardRunDetails;

/** How well text length alone predicts preferences. */
export interface LengthBaseline {
  readonly winner: 'longer' | 'shorter';
  readonly accuracy: number;
}

/** Trains a reward model on disk: config, logs, checkpoints and, at the end, the model, as PEFT saves
 *  one for sequence classification. Its scores are normalised on the validation texts, or on the
 *  training texts if there are none.
 *  @example
 *  const { modelFolder } = await rewardRun({ data: 'pairs.jsonl', output: 'runs/reward' }); */
export async function rewardRun(
  config: RewardRunConfigOptions,
  options: RunOptions = {},
): Promise<RewardRunResult> {
  const { config: complete } = await resolveStart(completeConfig(config, rewardKind));
  return runTraining(complete, { ...options, prepare: (model) => prepare(complete, model) });
}

/** Resumes the run in a folder from its latest intact checkpoint. It continues exactly, or for another
 *  number of steps if `maxSteps` is set. */
export function resumeRewardRun(
  folder: string,
  options: ResumeOptions<RunOptions> = {},
): Promise<RewardRunResult> {
  return resumeTraining(folder, { kind: rewardKind, run: rewardRun }, options);
}

async function prepare(
  config: RewardRunConfig,
  model: LoadedModel,
): Promise<RunWork<RewardRunDetails>> {
  const { data, inputs, trainerConfig, warnings } = await readRewardSources(config, model);
  const { report } = data;
  const [train, validation] = [toTexts(data.train), toTexts(data.validation)];
  const trainer = new RewardTrainer(trainerConfig, { model });
  await trainer.model();
  const unit = train.pairs.length > 0 ? 'pairs' : 'ratings';
  const [trainItems, heldOut] = [train[unit], validation[unit]];
  const reference = referenceTexts(train, validation);
  let normalization: ScoreNormalization | undefined;
  const saveModel = async (folder: string) => {
    // A single text has no standard deviation.
    if (reference.length > 1) await trainer.normalize(reference);
    normalization = (await trainer.model()).normalization;
    await trainer.saveModel(folder);
  };
  return {
    ...{ report, ranking: lowestLoss, inputs, warnings },
    train: (options) => trainer.train(trainItems, { ...options, validation: heldOut }),
    saveModel,
    loadCheckpoint: (folder) => trainer.loadCheckpoint(folder, trainItems),
    result: () => ({
      report,
      items: { unit, train: trainItems.length, validation: heldOut.length },
      lengthBaseline: lengthBaseline(train.pairs, validation.pairs),
      normalization,
    }),
  };
}

/** Reads everything that a run trains on. */
export async function readRewardSources(
  config: RewardRunConfig,
  model: ModelHeader,
): Promise<StageSources<PreferenceDataset, RewardConfig>> {
  const load = (context: DataContext) => loadRunPreferences(config, context);
  const sources = await readSources(config, { model, load });
  const { data, start } = sources;
  const own = pick(config, rewardConfigShape);
  return {
    ...sources,
    trainerConfig: resolveRewardConfig({ ...own, adapter: start?.folder }),
    warnings: [
      ...(start?.warning === undefined ? [] : [start.warning]),
      ...describeBadRows(data.report),
    ],
  };
}

/** Loads the preferences of a run. */
async function loadRunPreferences(
  config: RewardRunConfig,
  { tokenizer, contextLength, onFile }: DataContext,
): Promise<PreferenceDataset> {
  const { data, ...options } = pick(config, rewardDataShape);
  const { seed } = config;
  const dataset = await loadPreferences(data, tokenizer, {
    ...{ ...options, seed, contextLength, hub: { onFile } },
  });
  const isRated = ([group]: readonly PreferenceGroup[]) => group!.ratings.length > 0;
  const { train, validation } = dataset;
  if (validation.length > 0 && isRated(train) !== isRated(validation)) {
    const [wanted, got] = isRated(train) ? ['ratings', 'pairs'] : ['pairs', 'ratings'];
    throw new Error(
      `Cannot validate ${data}: the validation rows must be ${wanted} like the training rows, got ${got}`,
    );
  }
  return dataset;
}

/** Pairs, or ratings, of whole texts. */
export interface PreferenceItems {
  readonly pairs: readonly PreferenceTexts[];
  readonly ratings: readonly RatedText[];
}

/** Joins each prompt with its completions. */
export function toTexts(groups: readonly PreferenceGroup[]): PreferenceItems {
  const pairs = groups.flatMap((group) =>
    group.pairs.map(({ promptTokens, chosenTokens, rejectedTokens, margin, target, weight }) => ({
      chosen: concatInts([promptTokens, chosenTokens]),
      rejected: concatInts([promptTokens, rejectedTokens]),
      ...{ margin, target, weight },
    })),
  );
  const ratings = groups.flatMap((group) =>
    group.ratings.map(({ promptTokens, tokens, rating }) => ({
      text: concatInts([promptTokens, tokens]),
      rating,
    })),
  );
  return { pairs, ratings };
}

const MAX_REFERENCE_TEXTS = 1000;

/** The distinct texts whose scores are normalised to mean 0 and standard deviation 1: the validation
 *  texts, or the training texts if there are fewer than two. */
function referenceTexts(train: PreferenceItems, validation: PreferenceItems): Int32Array[] {
  const heldOut = distinctTexts(validation, MAX_REFERENCE_TEXTS);
  return heldOut.length > 1 ? heldOut : distinctTexts(train, MAX_REFERENCE_TEXTS);
}

function distinctTexts({ pairs, ratings }: PreferenceItems, limit: number): Int32Array[] {
  const texts = new Map<string, Int32Array>();
  const all = [
    ...pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    ...ratings.map(({ text }) => text),
  ];
  for (const text of all) {
    if (texts.size === limit) break;
    texts.set(text.join(), text);
  }
  return [...texts.values()];
}

/** Accuracy on the validation pairs of preferring the longer text, or the shorter one, whichever wins
 *  more training pairs; undefined if either side has only ties.
 *  @example shorter wins 2 of 3 training pairs and 1 of 4 validation pairs  →  shorter, ¼ */
export function lengthBaseline(
  train: readonly PreferenceTexts[],
  validation: readonly PreferenceTexts[],
): LengthBaseline | undefined {
  const [trainRate, validationRate] = [longerWinRate(train), longerWinRate(validation)];
  if (Number.isNaN(trainRate + validationRate)) return undefined;
  return trainRate >= 0.5
    ? { winner: 'longer', accuracy: validationRate }
    : { winner: 'shorter', accuracy: 1 - validationRate };
}

/** NaN if there are no pairs, or only ties. */
function longerWinRate(pairs: readonly PreferenceTexts[]): number {
  const lengths = pairs.flatMap(({ chosen, rejected }) => [chosen.length, rejected.length]);
  return pairMetrics(Float32Array.from(lengths), pairs).accuracy;
}
