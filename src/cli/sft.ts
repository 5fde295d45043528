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
import {
  describeTextWarnings,
  loadRunCompletions,
  type SFTRunResult,
  sftRun,
} from '../run/sft-run.ts';
import { shellQuote, shortPath } from './format.ts';
import { planRun, planStage, type RunPlan } from './plan.ts';
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

function plan(config: SFTRunConfig): Promise<RunPlan> {
  return planRun(config, async (model) => {
    const { contextLength } = model;
    const { maxTokens } = config;
    const dataset = await loadRunCompletions(config, model);
    return planStage(config, {
      model,
      data: {
        unit: 'texts',
        trainLengths: dataset.train.map(({ tokens }) => tokens.length),
        validationLengths: dataset.validation.map(({ tokens }) => tokens.length),
        warnings: describeTextWarnings(dataset, { maxTokens, contextLength }),
        isFull: config.fullParameters,
        head: 'language',
      },
    });
  });
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
