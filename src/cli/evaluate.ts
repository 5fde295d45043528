import type { Command } from 'commander';
import type { Tokenizer } from '../base-setup/index.ts';
import { readChatTemplateKwargs } from '../config/data-config.ts';
import { ConfigError } from '../config/parse-config.ts';
import {
  type RunConfig,
  type RunConfigOptions,
  resolveRunConfig,
  runConfigSchema,
  runConfigShape,
} from '../config/run-config.ts';
import type { Environment } from '../environments/index.ts';
import { pathExists } from '../fs/index.ts';
import { evaluationMetrics, type Performance } from '../loop/evaluation-report.ts';
import { EpisodeContext } from '../ppo-trainer/episode-context.ts';
import { evaluatePolicy, type PolicyEvaluation } from '../run/evaluate-policy.ts';
import { findAdapter, findModel } from '../run/find-model.ts';
import { expectTrustedRewards, recordTrustedRewards } from '../run/reward-trust.ts';
import { commandOf, readConfigOf } from '../run/run-config-files.ts';
import { count, loadHeldOutPrompts } from '../run/run-data.ts';
import { checkEnvironment, closeAfter, loadEnvironment } from '../run/run-environment.ts';
import { readRunConfig } from '../run/run-folder.ts';
import { checkRewards, withoutHumanReward } from '../run/run-rewards.ts';
import { readRunState } from '../run/run-state.ts';
import { trainKind } from '../run/train-run.ts';
import { type EvaluationColumn, formatEvaluations } from './evaluation-table.ts';
import { untilInterrupted } from './exit.ts';
import { loadWithProgress, printFound } from './load-model.ts';
import { packageEntries } from './package-entries.ts';
import { trustFlag } from './run-command.ts';
import { addGroupedOptions, readSchemaOptions } from './schema-options.ts';
import { StatusLine } from './status-line.ts';
import { formatSamples } from './summary.ts';
import { bold, dim, lineWidth, type Output, stripControls } from './terminal.ts';

const about = `Compare a policy with its reference, the model without the adapter. If --adapter is the folder of a run, its settings are the defaults, and its validation prompts are used.`;

const { prompts, split, promptColumn, template, chat, systemPrompt } = runConfigShape;
const { chatTemplateKwargs, environment } = runConfigShape;
const { modelName, revision, basePrecision, device, reward } = runConfigShape;
const { maxPromptTokens, truncatePrompts, maxPrompts } = runConfigShape;
const { rewardTimeout, humanFallback, missingEosPenalty } = runConfigShape;
const { evalBestOf, logSamples, seed } = runConfigShape;
const { maxNewTokens, temperature, topK, topP, minP, stop } = runConfigShape;
const { rolloutPrecision, rolloutBatchSize } = runConfigShape;

const groups = {
  'Prompts:': {
    ...{ modelName, revision, basePrecision, device },
    ...{ prompts, split, promptColumn, template, chat, systemPrompt, chatTemplateKwargs },
    ...{ maxPromptTokens, truncatePrompts, maxPrompts },
  },
  'Rewards:': { reward, environment, rewardTimeout, humanFallback, missingEosPenalty },
  'Responses:': {
    ...{ maxNewTokens, temperature, topK, topP, minP, stop, seed, evalBestOf, logSamples },
    ...{ rolloutPrecision, rolloutBatchSize },
  },
};

interface EvaluateFlags {
  readonly adapter?: string;
  readonly trust?: boolean;
  readonly json?: boolean;
}

type Values = Partial<RunConfigOptions>;

/** `proximal evaluate`: a policy's performance next to its reference's. */
export function addEvaluate(command: Command): void {
  command
    .description(about)
    .option(
      '--adapter <folder>',
      'Run or LoRA adapter in PEFT format; its base is the default model',
    )
    .option(trustFlag.name, trustFlag.description)
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
  { adapter, json, trust = false }: EvaluateFlags,
  flags: Values,
): Promise<void> {
  const { folder, values } = await choosePolicy(adapter, flags);
  const resolved = await resolveConfig(folder, values);
  const config = withoutHumanReward(resolved);
  await checkRewards(config);
  checkEnvironment(config);
  // Code that the folder of the run names, rather than the user.
  const code = {
    reward: values.reward === undefined ? config.reward : [],
    environment: values.environment === undefined ? config.environment : undefined,
  };
  if (folder !== undefined) {
    await expectTrustedRewards(code, { run: folder, trust, allowChanged: false });
    for (const warning of await recordTrustedRewards(code)) warn(warning);
  }
  if (config.reward.length < resolved.reward.length) {
    warn('The reward human is left out, because people score training responses only');
  }
  const model = await loadWithProgress(config);
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const { prompts } = values;
  const opened = await loadEnvironment(config, { modules: packageEntries });
  const episodes = opened && makeEpisodes(config, { environment: opened, tokenizer });
  const context = { tokenizer, contextLength, tools: opened?.tools };
  const line = new StatusLine(process.stderr);
  const show = (part: string, done: number, total: number) =>
    line.show(dim(`Evaluating the ${part}: ${done} of ${total}`, process.stderr));
  const evaluation = await closeAfter(opened, async () => {
    const records = await loadHeldOutPrompts(config, { ...context, prompts });
    return untilInterrupted((signal) =>
      evaluatePolicy(config, {
        model,
        prompts: records,
        episodes,
        adapter: folder,
        signal,
        onProgress: show,
        modules: packageEntries,
        warn,
      }),
    );
  }).finally(() => line.clear());
  const text = json ? JSON.stringify(evaluation) : formatEvaluation(evaluation, process.stdout);
  process.stdout.write(`${text}\n`);
}

function makeEpisodes(
  { chatTemplateKwargs: text = '{}' }: Pick<RunConfig, 'chatTemplateKwargs'>,
  options: { readonly environment: Environment; readonly tokenizer: Tokenizer },
): EpisodeContext {
  return new EpisodeContext(options.tokenizer, {
    environment: options.environment,
    chatTemplateKwargs: readChatTemplateKwargs(text),
  });
}

/** What to evaluate, and the base under it: `--model` may also be a run or an adapter, and without it the
 *  base is the one that `--adapter` was trained on. */
async function choosePolicy(
  adapter: string | undefined,
  values: Values,
): Promise<{ readonly folder: string | undefined; readonly values: Values }> {
  const { modelName } = values;
  const place = modelName ?? adapter;
  if (place === undefined) return { folder: undefined, values };
  const found = await findModel(place);
  printFound(found);
  if (adapter !== undefined && modelName !== undefined && found.adapter !== undefined) {
    throw new ConfigError(
      `Cannot evaluate ${modelName} and the adapter ${adapter}: there must be one adapter, got two; pass the base as --model, or leave out --adapter`,
    );
  }
  if (found.isRewardModel) {
    throw new ConfigError(
      `Cannot evaluate ${place}: it must be a language model, got a reward model`,
    );
  }
  const base = { modelName: found.modelName, ...(found.revision && { revision: found.revision }) };
  // A run is passed on unchanged, because its settings are the defaults.
  if (adapter !== undefined) await findAdapter(adapter);
  return {
    folder: adapter ?? (found.adapter === undefined ? undefined : place),
    values: { ...base, ...values, modelName: found.modelName },
  };
}

function warn(message: string): void {
  process.stderr.write(`Warning: ${stripControls(message)}\n`);
}

/** The flags over the config of the run, if the folder is one of proximal train. */
async function resolveConfig(folder: string | undefined, values: Values): Promise<RunConfig> {
  if (folder !== undefined && !(await pathExists(folder))) {
    throw new Error(
      `Cannot evaluate ${folder}: it must be the folder of a run or of an adapter, got no such folder; "proximal runs" lists the runs`,
    );
  }
  const isRun = folder !== undefined && (await readRunState(folder)) !== undefined;
  const isPpo = isRun && commandOf(await readRunConfig(folder)) === 'train';
  const base = isPpo ? await readConfigOf(folder, trainKind) : {};
  return resolveRunConfig({ ...base, ...values } as RunConfigOptions, { name: 'the flags' });
}

function toColumn(performance: Performance): EvaluationColumn {
  return { metrics: evaluationMetrics({ performance }), performance };
}

function formatEvaluation(evaluation: PolicyEvaluation, output: Output): string {
  const { prompts: promptCount, reference, policy, samples } = evaluation;
  const columns = {
    reference: toColumn(reference),
    ...(policy && { policy: toColumn(policy) }),
  };
  const title = bold(`Performance on ${count(promptCount, 'prompt')}`, output);
  const cases = { number: promptCount, noun: 'prompt' };
  return [
    `${title}\n${formatEvaluations(columns, { cases, width: lineWidth(output) })}`,
    ...(policy === undefined ? [] : formatSamples(samples, output)),
  ].join('\n\n');
}
