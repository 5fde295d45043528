import type { Command } from 'commander';
import { z } from 'zod';
import { runConfigSchema, runConfigShape } from '../config/run-config.ts';
import type { EvaluateFlags } from './evaluate/evaluate-flags.ts';
import { addModelFlag } from './run-flags.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

const about = `Measure a policy beside its reference, the model without an adapter. Where --adapter is a run's folder, all that is not given is the run's own, and prompts are those that it validates on.`;

const { prompts, split, promptColumn, template, chat, systemPrompt } = runConfigShape;
const { modelName, revision, maxPromptTokens, maxPrompts, reward } = runConfigShape;
const { rewardTimeout, humanFallback, evalBestOf, logSamples, seed } = runConfigShape;
const { maxNewTokens, temperature, topK, topP, minP, stop } = runConfigShape;
const { rolloutPrecision, rolloutBatchSize } = runConfigShape;

const groups = {
  'Prompts:': {
    ...{ modelName, revision, prompts, split, promptColumn, template, chat, systemPrompt },
    ...{ maxPromptTokens, maxPrompts },
  },
  'Rewards:': { reward, rewardTimeout, humanFallback },
  'Responses:': {
    ...{ maxNewTokens, temperature, topK, topP, minP, stop, seed, evalBestOf, logSamples },
    ...{ rolloutPrecision, rolloutBatchSize },
  },
};

/** `proximal evaluate`: how a policy does. */
export function addEvaluate(program: Command): void {
  const command = program
    .command('evaluate')
    .summary('Measure a policy beside its reference')
    .description(about)
    .option('--adapter <folder>', "LoRA adapter, as PEFT saves it, or a run's folder")
    .option('--json', 'Print one JSON object');
  for (const [heading, shape] of Object.entries(groups)) {
    command.optionsGroup(heading);
    addSchemaOptions(command, z.strictObject(shape));
  }
  addModelFlag(command, 'Prompts:');
  command.action(async ({ model, ...flags }: EvaluateFlags) => {
    const { evaluateModel } = await import('./evaluate/evaluate-model.ts');
    // The flag names what is evaluated; a config's adapter is what its reference starts as.
    const { adapter: _, ...given } = readSchemaOptions(command, runConfigSchema);
    await evaluateModel(flags, model === undefined ? given : { modelName: model, ...given });
  });
}
