import {
  type RewardRunConfig,
  type RewardRunConfigOptions,
  rewardKind,
} from '../../config/stage-run-config.ts';
import { describeBadRows } from '../../run/describe-rows.ts';
import { loadRunPreferences, type RewardSide, toSide } from '../../run/reward-data.ts';
import { type RewardRunResult, rewardRun } from '../../run/reward-run.ts';
import type { RunFlags } from '../run-flags.ts';
import { planStage, type StagePlan } from '../stage/plan-stage.ts';
import { runStageCommand, type SummaryContext } from '../stage/run-stage-command.ts';
import { showPart } from '../stage/stage-metrics.ts';
import { formatStageSummary } from '../stage/stage-summary.ts';
import { quote, shorten } from '../train/shorten.ts';
import { showNumber } from '../train/step-line.ts';

/** Trains a reward model, or shows what would be trained. */
export function trainReward(
  flags: RunFlags,
  values: Partial<RewardRunConfigOptions>,
): Promise<void> {
  return runStageCommand({ kind: rewardKind, plan, run: rewardRun, summarize }, { flags, values });
}

function plan(config: RewardRunConfig): Promise<StagePlan> {
  return planStage(config, {
    isFull: false,
    head: 'scalar',
    loadData: async (context) => {
      const { train, validation, report } = await loadRunPreferences(config, context);
      return {
        unit: report.pairs > 0 ? 'pairs' : 'ratings',
        trainLengths: lengthsOf(toSide(train)),
        validationLengths: lengthsOf(toSide(validation)),
        warnings: describeBadRows(report),
      };
    },
  });
}

function lengthsOf({ pairs, ratings }: RewardSide): number[] {
  return [
    ...pairs.map(({ chosen, rejected }) => chosen.length + rejected.length),
    ...ratings.map(({ text }) => text.length),
  ];
}

function summarize(result: RewardRunResult, context: SummaryContext<RewardRunConfig>): string {
  const { config, ...rest } = context;
  const { lengthBaseline: baseline, normalization, folder } = result;
  const column = baseline && {
    title: 'by length',
    metrics: { accuracy: showPart(baseline.accuracy) },
  };
  return formatStageSummary(result, {
    ...rest,
    ...(column && { column }),
    modelNote: 'LoRA adapter and head, as PEFT saves them',
    notes: [
      ...(baseline === undefined
        ? []
        : [
            `By length, the ${baseline.winner} text wins, as it mostly does in what was learned from.`,
          ]),
      ...(normalization === undefined ? [] : [describeScores(normalization)]),
    ],
    next: [
      `proximal train --model ${quote(shorten(config.modelName))} --prompts … --reward ${quote(`model:${shorten(folder)}`)}`,
    ],
  });
}

function describeScores({ mean, std }: { mean: number; std: number }): string {
  const shift = mean < 0 ? `+ ${showNumber(-mean)}` : `− ${showNumber(mean)}`;
  return `Scores are (s ${shift})/${showNumber(std)}: mean 0 and deviation 1 on texts of these data.`;
}
