import {
  type SFTRunConfig,
  type SFTRunConfigOptions,
  sftKind,
} from '../../config/stage-run-config.ts';
import { describeBadRows } from '../../run/describe-rows.ts';
import { describeTruncated, loadRunCompletions, sftRun } from '../../run/sft-run.ts';
import type { StageRunResult } from '../../run/stage-run.ts';
import type { RunFlags } from '../run-flags.ts';
import { planStage, type StagePlan } from '../stage/plan-stage.ts';
import { runStageCommand, type SummaryContext } from '../stage/run-stage-command.ts';
import { formatStageSummary } from '../stage/stage-summary.ts';
import { quote, shorten } from '../train/shorten.ts';

/** Fine-tunes on texts, or shows what would be done. */
export function tuneModel(flags: RunFlags, values: Partial<SFTRunConfigOptions>): Promise<void> {
  return runStageCommand({ kind: sftKind, plan, run: sftRun, summarize }, { flags, values });
}

function plan(config: SFTRunConfig): Promise<StagePlan> {
  return planStage(config, {
    isFull: config.fullParameters,
    head: 'language',
    loadData: async (context) => {
      const dataset = await loadRunCompletions(config, context);
      const { contextLength } = context;
      const { maxTokens } = config;
      return {
        unit: 'texts',
        trainLengths: dataset.train.map(({ tokens }) => tokens.length),
        validationLengths: dataset.validation.map(({ tokens }) => tokens.length),
        warnings: [
          ...describeBadRows(dataset.report),
          ...describeTruncated(dataset, { maxTokens, contextLength }),
        ],
      };
    },
  });
}

function summarize(result: StageRunResult, context: SummaryContext<SFTRunConfig>): string {
  const { config, ...rest } = context;
  const { merged, fullParameters } = config;
  const model = quote(shorten(result.modelFolder!));
  const isWhole = merged || fullParameters;
  const names = isWhole
    ? `--model ${model}`
    : `--model ${quote(shorten(config.modelName))} --adapter ${model}`;
  return formatStageSummary(result, {
    ...rest,
    modelNote: fullParameters
      ? 'whole model'
      : merged
        ? 'whole model, adapter merged'
        : 'LoRA adapter, as PEFT saves it',
    notes: [],
    next: [
      `proximal generate ${names} --prompt "…"`,
      `proximal train ${names} --prompts … --reward …`,
    ],
  });
}
