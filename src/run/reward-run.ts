import { rewardConfigShape } from '../config/stage-config.ts';
import {
  type RewardRunConfig,
  type RewardRunConfigOptions,
  rewardKind,
} from '../config/stage-run-config.ts';
import type { LoadedModel, ScoreNormalization } from '../models/index.ts';
import { RewardTrainer } from '../stages/index.ts';
import {
  type LengthBaseline,
  lengthBaseline,
  loadRunPreferences,
  referenceTexts,
  toSide,
} from './reward-data.ts';
import { completeConfig, readConfigOf } from './run-config-files.ts';
import { pick } from './run-work.ts';
import {
  runStage,
  type StageRunOptions,
  type StageRunResult,
  type StageWork,
} from './stage-run.ts';

export interface RewardRunResult extends StageRunResult {
  /** On the pairs that are validated on; undefined without them. */
  readonly lengthBaseline: LengthBaseline | undefined;
  /** What the saved model's scores are normalised by; undefined if the run was interrupted. */
  readonly normalization: ScoreNormalization | undefined;
}

/** The whole training of a reward model on the disk: config, logs, checkpoints and, at the end, the
 *  model, as PEFT saves one for sequence classification. Its scores are normalised on the texts that
 *  are validated on, or without them on those that are trained on.
 *  @example
 *  const { modelFolder } = await rewardRun({ data: 'pairs.jsonl', output: 'runs/reward' }); */
export async function rewardRun(
  options: RewardRunConfigOptions,
  context: StageRunOptions = {},
): Promise<RewardRunResult> {
  const config = completeConfig(options, rewardKind);
  let opened: OpenedReward | undefined;
  const result = await runStage(config, context, async (model) => {
    opened = await open(config, model);
    return opened.work;
  });
  const { baseline, normalization } = opened!;
  return { ...result, lengthBaseline: baseline, normalization: normalization() };
}

/** Goes on with the run in a folder exactly, from its latest whole checkpoint. */
export async function resumeRewardRun(
  folder: string,
  context: Omit<StageRunOptions, 'resume'> = {},
): Promise<RewardRunResult> {
  return rewardRun(await readConfigOf(folder, rewardKind), { ...context, resume: true });
}

interface OpenedReward {
  readonly work: StageWork;
  readonly baseline: LengthBaseline | undefined;
  /** That of the last model that was saved as the run's. */
  normalization(): ScoreNormalization | undefined;
}

async function open(config: RewardRunConfig, model: LoadedModel): Promise<OpenedReward> {
  const contextLength = model.base.architecture.config.max_position_embeddings;
  const { tokenizer } = model;
  const dataset = await loadRunPreferences(config, { tokenizer, contextLength });
  const [train, validation] = [toSide(dataset.train), toSide(dataset.validation)];
  const trainer = new RewardTrainer(pick(config, rewardConfigShape), { model });
  const unit = train.pairs.length > 0 ? 'pairs' : 'ratings';
  const [learned, held] = [train[unit], validation[unit]];
  const reference = referenceTexts(train, validation);
  let saved: ScoreNormalization | undefined;
  return {
    work: {
      report: dataset.report,
      items: { unit, train: learned.length, validation: held.length },
      warnings: [],
      train: (options) => trainer.train(learned, { ...options, validation: held }),
      restore: (folder) => trainer.loadCheckpoint(folder, learned),
      save: async (folder) => {
        // One text has no deviation.
        if (reference.length > 1) await trainer.normalize(reference);
        saved ??= (await trainer.model()).normalization;
        await trainer.saveModel(folder);
      },
    },
    baseline: lengthBaseline(train.pairs, validation.pairs),
    normalization: () => saved,
  };
}
