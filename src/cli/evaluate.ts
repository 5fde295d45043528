import type { Command } from 'commander';
import {
  type RunConfig,
  type RunConfigOptions,
  resolveRunConfig,
  runConfigSchema,
  runConfigShape,
} from '../config/run-config.ts';
import type { PromptRecord } from '../data/index.ts';
import { evaluationMetrics } from '../loop/evaluation-report.ts';
import type { LoadedModel } from '../models/index.ts';
import { evaluatePolicy, findPolicy, type PolicyEvaluation } from '../run/evaluate-policy.ts';
import { readConfigOf } from '../run/run-config-files.ts';
import { count, loadRunPrompts } from '../run/run-data.ts';
import { checkRewards, withoutHumanReward } from '../run/run-rewards.ts';
import { readRunState } from '../run/run-state.ts';
import { trainKind } from '../run/train-run.ts';
import { untilInterrupted } from './exit.ts';
import { loadWithProgress } from './load-model.ts';
import { packageEntries } from './package-entries.ts';
import { addGroupedOptions, readSchemaOptions } from './schema-options.ts';
import { formatEvaluations, formatSamples } from './summary.ts';
import { bold, dim, type Output, StatusLine } from './terminal.ts';

const about = `Compare a policy with its reference, the model without the adapter. If --adapter is the folder of a run, its settings are the defaults, and its validation prompts are used.`;

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

interface EvaluateFlags {
  readonly adapter?: string;
  readonly json?: boolean;
}

type Values = Partial<RunConfigOptions>;

/** `proximal evaluate`: a policy's performance next to its reference's. */
export function addEvaluate(command: Command): void {
  command
    .description(about)
    .option('--adapter <folder>', 'LoRA adapter in PEFT format, or the folder of a run')
    .option('--json', 'Print one JSON object');
  addGroupedOptions(command, groups);
  command.action(async (flags: EvaluateFlags) => {
    // --adapter is what to evaluate; the config's adapter is where training started.
    const { adapter: _, ...values } = readSchemaOptions(command, runConfigSchema);
    await evaluateModel(flags, values);
  });
}

/** Evaluates a policy and prints the table. */
async function evaluateModel(
  { adapter: folder, json }: EvaluateFlags,
  values: Values,
): Promise<void> {
  const resolved = await resolveConfig(folder, values);
  const config = withoutHumanReward(resolved);
  checkRewards(config);
  if (config.reward.length < resolved.reward.length) {
    process.stderr.write(
      'Warning: The reward human is left out, because people score training responses only\n',
    );
  }
  const adapter = folder === undefined ? undefined : await findPolicy(folder);
  const model = await loadWithProgress(config);
  const records = await choosePrompts(config, { model, values });
  const line = new StatusLine(process.stderr);
  const show = (part: string, done: number, total: number) =>
    line.show(dim(`Evaluating the ${part}: ${done} of ${total}`, process.stderr));
  const evaluation = await untilInterrupted((signal) =>
    evaluatePolicy(config, {
      model,
      prompts: records,
      adapter,
      signal,
      onProgress: show,
      modules: packageEntries,
    }),
  ).finally(() => line.clear());
  const text = json ? JSON.stringify(evaluation) : formatEvaluation(evaluation, process.stdout);
  process.stdout.write(`${text}\n`);
}

/** The flags over the config of the run, if the folder is one. */
async function resolveConfig(folder: string | undefined, values: Values): Promise<RunConfig> {
  const isRun = folder !== undefined && (await readRunState(folder)) !== undefined;
  const base = isRun ? await readConfigOf(folder, trainKind) : {};
  return resolveRunConfig({ ...base, ...values } as RunConfigOptions, { name: 'the flags' });
}

/** All prompts of `--prompts`, or the validation prompts of the run. */
async function choosePrompts(
  config: RunConfig,
  { model, values }: { model: LoadedModel; values: Values },
): Promise<readonly PromptRecord[]> {
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const context = { tokenizer, contextLength };
  if (values.prompts === undefined) return (await loadRunPrompts(config, context)).validation;
  const { validationFile: _file, validationSplit: _split, ...rest } = config;
  return (await loadRunPrompts({ ...rest, validationFraction: 0 }, context)).train;
}

function formatEvaluation(evaluation: PolicyEvaluation, output: Output): string {
  const { prompts: promptCount, reference, policy, samples } = evaluation;
  const columns = {
    reference: evaluationMetrics({ performance: reference }),
    ...(policy && { policy: evaluationMetrics({ performance: policy }) }),
  };
  const title = bold(`Performance on ${count(promptCount, 'prompt')}`, output);
  return [
    `${title}\n${formatEvaluations(columns)}`,
    ...(policy === undefined ? [] : formatSamples(samples, output)),
  ].join('\n\n');
}
