import type { Command } from 'commander';
import { rewardConfigShape } from '../config/stage-config.ts';
import {
  type RewardRunConfig,
  type RewardRunConfigOptions,
  rewardDataShape,
  rewardKind,
  rewardOutputShape,
  rewardRunConfigSchema,
} from '../config/stage-run-config.ts';
import {
  type PreferenceItems,
  type RewardRunResult,
  readRewardSources,
  rewardRun,
  toTexts,
} from '../run/reward-run.ts';
import { formatNumber, formatPercent, shellQuote, shortPath } from './format.ts';
import { type ModelContext, planRun, planStage, type ResumedRun, type RunPlan } from './plan.ts';
import { defineRunCommand } from './run-command.ts';
import type { SummaryDetails } from './summary.ts';

const about = `Train a reward model on human preferences: pairs ("chosen", "rejected"), the best of several ("completions", "best"), rankings ("completions", "ranking") or ratings ("completion", "rating"). Use it with "proximal train --reward model:<run>".`;

/** `proximal reward`: a reward model from preferences. */
export function addReward(command: Command): void {
  defineRunCommand<RewardRunConfigOptions, RewardRunConfig, RewardRunResult>(command, {
    kind: rewardKind,
    about,
    schema: rewardRunConfigSchema,
    groups: {
      'Data:': rewardDataShape,
      'Output:': rewardOutputShape,
      'Training:': rewardConfigShape,
    },
    plan,
    run: rewardRun,
    summarize,
  });
}

function plan(config: RewardRunConfig, resumed?: ResumedRun): Promise<RunPlan> {
  const planWork = async (model: ModelContext) => {
    const { data, trainerConfig, ...sources } = await readRewardSources(config, model);
    return planStage(config, {
      model,
      data: {
        ...sources,
        unit: data.report.pairs > 0 ? 'pairs' : 'ratings',
        trainLengths: lengthsOf(toTexts(data.train)),
        validationLengths: lengthsOf(toTexts(data.validation)),
        identity: trainerConfig,
        isFull: false,
        head: 'scalar',
      },
    });
  };
  return planRun(config, planWork, resumed);
}

function lengthsOf({ pairs, ratings }: PreferenceItems): number[] {
  return [
    ...pairs.map(({ chosen, rejected }) => chosen.length + rejected.length),
    ...ratings.map(({ text }) => text.length),
  ];
}

function summarize(result: RewardRunResult, { modelName }: RewardRunConfig): SummaryDetails {
  const { lengthBaseline: baseline, normalization, folder } = result;
  const reward = shellQuote(`model:${shortPath(folder)}`);
  return {
    modelNote: 'LoRA adapter and head in PEFT format',
    column: baseline && {
      title: 'by length',
      cells: { accuracy: formatPercent(baseline.accuracy) },
    },
    notes: [
      ...(baseline === undefined
        ? []
        : [
            `"by length" always prefers the ${baseline.winner} text, which wins most training pairs.`,
          ]),
      ...(normalization === undefined ? [] : [describeNormalization(normalization)]),
    ],
    next: [`train --model ${shellQuote(shortPath(modelName))} --prompts … --reward ${reward}`],
  };
}

function describeNormalization({ mean, std }: { mean: number; std: number }): string {
  const shift = mean < 0 ? `+ ${formatNumber(-mean)}` : `− ${formatNumber(mean)}`;
  return `Scores are normalised as (s ${shift})/${formatNumber(std)}: mean 0 and standard deviation 1 on texts of this data.`;
}
