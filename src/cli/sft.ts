import type { Command } from 'commander';
import { sftConfigShape } from '../config/stage-config.ts';
import {
  type SFTRunConfig,
  type SFTRunConfigOptions,
  sftDataShape,
  sftKind,
  sftOutputShape,
  sftRunConfigSchema,
} from '../config/stage-run-config.ts';
import { readSFTSources, type SFTRunResult, sftRun } from '../run/sft-run.ts';
import { shellQuote, shortPath } from './format.ts';
import { type ModelContext, planRun, planStage, type ResumedRun, type RunPlan } from './plan.ts';
import { defineRunCommand } from './run-command.ts';
import type { SummaryDetails } from './summary.ts';

const about = `Fine-tune a language model on texts: conversations ("messages"), prompts with completions ("prompt", "completion"), or whole texts ("text"). The model learns completions only, not prompts.`;

/** `proximal sft`: supervised fine-tuning. */
export function addSft(command: Command): void {
  defineRunCommand<SFTRunConfigOptions, SFTRunConfig, SFTRunResult>(command, {
    kind: sftKind,
    about,
    schema: sftRunConfigSchema,
    groups: { 'Data:': sftDataShape, 'Output:': sftOutputShape, 'Training:': sftConfigShape },
    plan,
    run: sftRun,
    summarize,
  });
}

function plan(config: SFTRunConfig, resumed?: ResumedRun): Promise<RunPlan> {
  const planWork = async (model: ModelContext) => {
    const { data, trainerConfig, ...sources } = await readSFTSources(config, model);
    return planStage(config, {
      model,
      data: {
        ...sources,
        unit: 'texts',
        trainLengths: data.train.map(({ tokens }) => tokens.length),
        validationLengths: data.validation.map(({ tokens }) => tokens.length),
        identity: trainerConfig,
        isFull: config.fullParameters,
        head: 'language',
      },
    });
  };
  return planRun(config, planWork, resumed);
}

function summarize({ folder }: SFTRunResult, config: SFTRunConfig): SummaryDetails {
  const { merged, fullParameters } = config;
  const flags = `--model ${shellQuote(shortPath(folder))}`;
  return {
    modelNote: fullParameters
      ? 'whole model'
      : merged
        ? 'whole model, adapter merged'
        : 'LoRA adapter in PEFT format',
    next: [`generate ${flags} --prompt "…"`, `train ${flags} --prompts … --reward …`],
  };
}
