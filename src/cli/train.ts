import type { Command } from 'commander';
import { dataConfigShape } from '../config/data-config.ts';
import { ppoConfigShape, presets, valueLoraFields } from '../config/ppo-config.ts';
import { withoutRewardSecrets } from '../config/reward-spec.ts';
import {
  queueShape,
  type RunConfig,
  type RunConfigOptions,
  runConfigSchema,
  runOwnShape,
} from '../config/run-config.ts';
import { trainingConfigShape } from '../config/training-config.ts';
import type { ParameterCounts } from '../models/decoder/parameter-counts.ts';
import { optimizerSteps } from '../ppo-trainer/ppo-step.ts';
import { ppoIdentity } from '../ppo-trainer/ppo-training.ts';
import { expectTrustedRewards } from '../run/reward-trust.ts';
import { describePrompts, pick } from '../run/run-data.ts';
import { checkEnvironment, closeAfter, loadEnvironment } from '../run/run-environment.ts';
import { rewardInputs } from '../run/run-inputs.ts';
import { checkRewards, hasOnlyHumanReward, tryRewards } from '../run/run-rewards.ts';
import type { RunOptions, RunResult } from '../run/run-training.ts';
import { describeFit, readTrainSources, trainKind, trainRun } from '../run/train-run.ts';
import { shellQuote, shortPath } from './format.ts';
import { packageEntries } from './package-entries.ts';
import {
  type AdapterSize,
  type ModelContext,
  measureAdapter,
  type PlannedWork,
  planRun,
  type ResumedRun,
  type RunPlan,
  type RunSchedule,
} from './plan.ts';
import { defineRunCommand, trustFlag } from './run-command.ts';
import type { SummaryDetails } from './summary.ts';

/** `proximal train`: PPO. */
export function addTrain(command: Command): void {
  command.option(trustFlag.name, trustFlag.description);
  defineRunCommand<RunConfigOptions, RunConfig, RunResult>(command, {
    kind: trainKind,
    about: 'Fine-tune a language model with PPO: it learns to write responses that score higher.',
    schema: runConfigSchema,
    groups: {
      'Prompts:': dataConfigShape,
      'Rewards and output:': runOwnShape,
      'Run:': { ...trainingConfigShape, ...queueShape },
      'PPO:': ppoConfigShape,
    },
    plan: planTraining,
    run: (config, options: RunOptions) => trainRun(config, { ...options, modules: packageEntries }),
    summarize,
  });
}

/** Plans a PPO run. */
export async function planTraining(config: RunConfig, resumed?: ResumedRun): Promise<RunPlan> {
  await checkRewards(config);
  checkEnvironment(config);
  return planRun(config, (model) => planWork(config, { model, resumed }), resumed);
}

interface PlanContext {
  readonly model: ModelContext;
  readonly resumed: ResumedRun | undefined;
}

async function planWork(config: RunConfig, { model, resumed }: PlanContext): Promise<PlannedWork> {
  const { counts, base } = model;
  const environment = await openEnvironment(config, resumed);
  const read = () => readTrainSources(config, model, { environment });
  const sources = await closeAfter(environment, read);
  const { data: prompts, start, fitted } = sources;
  const policy = measureAdapter(config, { model, start });
  const hasValue = config.advantageEstimator === 'gae';
  const value = hasValue ? measureAdapter(valueLoraFields(config), { model }) : undefined;
  const lengths = [...prompts.train, ...prompts.validation].map(({ tokens }) => tokens.length);
  const longestPrompt = lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const meanPrompt = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const responsesPerStep = config.batchSize * config.samplesPerPrompt;
  const validation = prompts.validation.length;
  const { hidden_size: hiddenSize } = base.architecture.config;
  return {
    unit: 'prompts',
    train: prompts.train.length,
    validation,
    warnings: [
      ...(start?.warning === undefined ? [] : [start.warning]),
      ...describePrompts(prompts.report),
    ],
    inputs: [...sources.inputs, ...(await rewardInputs(config))],
    identity: ppoIdentity(sources.trainerConfig, {
      shuffle: config.shuffle,
      promptCount: prompts.train.length,
    }),
    trainable: { policy: policy.size, ...(value && { value: value.size + hiddenSize + 1 }) },
    rewards: config.reward.map(withoutRewardSecrets),
    open: async () => {
      if (resumed !== undefined)
        await expectTrustedRewards(config, { ...resumed, run: resumed.folder });
      return tryRewards(config, { base, modules: packageEntries });
    },
    ...(config.preset && {
      preset: {
        name: config.preset,
        settings: pick(config, presets[config.preset]),
      },
    }),
    responsesPerStep,
    optimizerStepsPerStep: optimizerSteps(config, 1),
    longest: longestPrompt + config.maxNewTokens,
    memory: { generation: fitted.estimate.rollout, training: fitted.estimate.update },
    memoryPlan: config.memory === undefined ? undefined : describeFit(fitted),
    canEvaluate: !hasOnlyHumanReward(config),
    flops: (schedule) => {
      const meanLength = meanPrompt + config.maxNewTokens;
      const work = { counts, schedule, meanLength, validation, responsesPerStep, policy, value };
      return countFlops(config, work);
    },
  };
}

/** Loads the environment of a planned run; that of a folder from somebody else needs consent. */
async function openEnvironment(config: RunConfig, resumed: ResumedRun | undefined) {
  if (config.environment === undefined) return undefined;
  if (resumed !== undefined)
    await expectTrustedRewards(config, { ...resumed, run: resumed.folder });
  return loadEnvironment(config, { modules: packageEntries });
}

interface Work {
  readonly counts: ParameterCounts;
  readonly schedule: RunSchedule;
  readonly meanLength: number;
  readonly validation: number;
  readonly responsesPerStep: number;
  readonly policy: AdapterSize;
  readonly value: AdapterSize | undefined;
}

/** Operations of a run if every response has the full length: 2 per token and parameter of a forward or
 *  backward pass. Layers below the adapters run once per step, in the reference's pass. Generation counts
 *  twice, because it is limited by memory bandwidth. */
function countFlops(config: RunConfig, work: Work): number {
  const { counts, schedule, meanLength, validation, responsesPerStep } = work;
  // The embedding is looked up; a tied one is also multiplied as the output head.
  const multiplied = counts.total - (counts.head > 0 ? counts.embedding : 0);
  const pass = 2 * multiplied * meanLength;
  const passAbove = ({ frozenLayers }: AdapterSize) =>
    pass - 2 * frozenLayers * counts.perLayer * meanLength;
  const value = work.value ? passAbove(work.value) : 0;
  const generate = 2 * pass;
  // A server generates elsewhere; log π_old is then recomputed.
  const rollOut = config.rollouts === undefined ? generate : passAbove(work.policy);
  const score = pass + value;
  const update = config.ppoEpochs * 2 * (passAbove(work.policy) + value);
  const models = work.value ? 2 : 1;
  const evaluate = generate * (1 + config.evalBestOf) + config.evalBestOf * pass * (1 + models);
  return (
    schedule.totalSteps * responsesPerStep * (rollOut + score + update) +
    schedule.evaluations * validation * evaluate
  );
}

function summarize({ folder }: RunResult): SummaryDetails {
  const run = shellQuote(shortPath(folder));
  return {
    modelNote: 'LoRA adapter in PEFT format',
    next: [
      `generate --model ${run} --prompt "…"`,
      `evaluate --adapter ${run}`,
      `merge ${run} --out …`,
      `labels create --compare ${run}`,
    ],
  };
}
