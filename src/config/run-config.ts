import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { dataConfigShape, findDataContradiction } from './data-config.ts';
import { parseConfig, type WithModel } from './parse-config.ts';
import {
  fillDependentDefaults,
  findPpoContradiction,
  type PPOConfig,
  ppoConfigShape,
} from './ppo-config.ts';
import {
  findRewardError,
  formatRewardSpec,
  parseRewardSpec,
  splitRewardSpec,
  withoutRewardSecrets,
} from './reward-spec.ts';
import { trainingConfigShape } from './training-config.ts';

const name = z.string().min(1);

/** Where scores come from, where the run is saved, and its memory limit. */
export const runOwnShape = {
  memory: z
    .string()
    .regex(/^\d+(\.\d+)? ?[kMG]B$/)
    .optional()
    .meta({ rule: 'a number with kB, MB or GB, such as 4GB' })
    .describe(
      'Memory limit of the run, such as 4GB: rollout precision, batch sizes and saved activations are reduced until the run fits',
    ),
  output: name
    .optional()
    .describe('Folder of the run, which must be new or empty; default: runs/ppo-<time>'),
  reward: z
    .array(name)
    .default([])
    .describe(
      'Where scores come from: reward.ts, http://server/score, human (people score while the run waits), human:scores.jsonl or model:folder, optionally followed by a weight such as =0.5; or a built-in reward such as brevity:target=20,weight=0.5; a name may come first, such as polite=keyword:please; repeatable',
    ),
  environment: name
    .optional()
    .describe(
      'File that exports the environment of episodes with several turns, such as tools; prompts are then chats, and its code runs in this process',
    ),
  rewardTimeout: z
    .number()
    .positive()
    .default(60)
    .describe('Seconds without a new score after which a reward counts as hung'),
  humanFallback: z
    .number()
    .optional()
    .describe(
      'Score of a response that people did not score, in a human: file or in time; default: the run fails',
    ),
  humanTimeout: z
    .number()
    .positive()
    .optional()
    .describe('Seconds to wait for the next human score; default: no limit'),
};

/** The value of `queue` for jobs in the trainer's own process. */
export const noQueue = 'none';

/** Where the jobs of a step run. */
export const queueShape = {
  queue: z
    .string()
    .regex(/^(rediss?:\/\/\S+|none)$/)
    .optional()
    .meta({ rule: 'a URL such as redis://host:6379/0 (rediss:// with TLS), or none' })
    .describe(
      'Redis of the workers that run the jobs of each step, such as redis://host:6379/0; see proximal worker; default: none, the jobs run in this process',
    ),
};

/** All fields of a PPO run in one flat object: the keys of a config file and the command's flags. */
export const runConfigShape = {
  ...dataConfigShape,
  ...ppoConfigShape,
  ...trainingConfigShape,
  ...runOwnShape,
  ...queueShape,
};

export const runConfigSchema = z.strictObject(runConfigShape).superRefine((config, context) => {
  const message = findRunContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Run options; every field but `prompts` and `reward` has a default. */
export type RunConfigOptions = WithModel<z.input<typeof runConfigSchema>>;

/** Run options with all defaults filled in. */
export type RunConfig = Readonly<z.output<typeof runConfigSchema>>;

/** Checks a run's config and fills in the defaults. Errors call it `name`, such as `train.yaml`. */
export function resolveRunConfig(
  options: RunConfigOptions,
  { name: configName = 'the run config' }: { readonly name?: string } = {},
): RunConfig {
  return parseConfig(runConfigSchema, fillDependentDefaults(options), { name: configName });
}

/** Fields that every run config has. */
export interface AnyRunConfig {
  readonly modelName: string;
  readonly revision?: string | undefined;
  readonly basePrecision: PPOConfig['basePrecision'];
  readonly device: PPOConfig['device'];
  readonly adapter?: string | undefined;
  readonly output?: string | undefined;
  readonly keepCheckpoints: number;
}

/** A command that creates run folders. */
export interface RunKind<O extends object, C extends AnyRunConfig> {
  /** `proximal <command>` */
  readonly command: 'train' | 'sft' | 'reward';
  /** Start of the default folder name, before the time. */
  readonly prefix: string;
  /** The fields of its config. */
  readonly shape: z.ZodRawShape;
  /** Checks a config and fills in the defaults.
   *  @param about.name the config's name in errors, such as `train.yaml` */
  resolve(options: O, about?: { readonly name?: string }): C;
}

function findRunContradiction(config: RunConfig): string | undefined {
  const { reward, valueInit, environment } = config;
  if (reward.length === 0 && environment === undefined) {
    return 'reward must be set, such as reward.ts, http://server/score, human, human:scores.jsonl or model:folder, got nothing';
  }
  const [error] = reward.flatMap((text) => findRewardError(text) ?? []);
  if (error !== undefined) return error;
  const models = reward.map(parseRewardSpec).filter(({ kind }) => kind === 'model');
  if (valueInit === 'reward' && (models.length !== 1 || models[0]!.weight !== 1)) {
    return `valueInit must be zero unless exactly one reward is a model: with weight 1 for the value model to copy, got ${reward.map(withoutRewardSecrets).join(', ')}`;
  }
  if (config.queue !== undefined && config.queue !== noQueue && config.keepPasses) {
    return 'keepPasses must not be true with a queue, because jobs on workers reuse nothing; leave it out';
  }
  return (
    findEnvironmentContradiction(config) ??
    findPpoContradiction(config) ??
    findDataContradiction(config)
  );
}

/** Episodes need a policy that generates in the trainer's process. */
function findEnvironmentContradiction(config: RunConfig): string | undefined {
  const { environment, queue, rollouts } = config;
  if (environment === undefined) return undefined;
  if (queue !== undefined && queue !== noQueue) {
    return 'environment must not be set with a queue, because tools run in the trainer; remove one of them';
  }
  if (rollouts !== undefined) {
    return 'environment must not be set with rollouts by a server, because tools run in the trainer; remove one of them';
  }
  return undefined;
}

const dataFile = /\.(jsonl|ndjson|json|csv|tsv|txt|parquet)(\.gz)?$/i;

/** Fields that may be paths. */
type PathFields = Partial<
  Pick<
    RunConfigOptions,
    | 'modelName'
    | 'adapter'
    | 'prompts'
    | 'validationFile'
    | 'output'
    | 'reward'
    | 'environment'
    | 'rolloutFolder'
  >
> & { data?: string };

/** Resolves a config's relative paths against a folder; hub ids and URLs are unchanged.
 *  @example { prompts: 'p.jsonl', modelName: 'Qwen/Qwen3-0.6B' }, 'conf'
 *    →  { prompts: 'conf/p.jsonl', modelName: 'Qwen/Qwen3-0.6B' } */
export function resolvePaths<C extends PathFields>(config: C, folder: string): C {
  const resolved: PathFields = {};
  const { modelName, adapter, prompts, data, validationFile, output, reward } = config;
  const { rolloutFolder, environment } = config;
  if (typeof modelName === 'string') resolved.modelName = resolveIfPath(modelName, folder);
  if (typeof prompts === 'string') resolved.prompts = resolveIfPath(prompts, folder);
  if (typeof data === 'string') resolved.data = resolveIfPath(data, folder);
  if (typeof validationFile === 'string')
    resolved.validationFile = resolveIfPath(validationFile, folder);
  if (typeof output === 'string') resolved.output = resolvePath(output, folder);
  if (typeof rolloutFolder === 'string')
    resolved.rolloutFolder = resolvePath(rolloutFolder, folder);
  if (typeof environment === 'string') resolved.environment = resolvePath(environment, folder);
  if (typeof adapter === 'string') resolved.adapter = resolvePath(adapter, folder);
  if (Array.isArray(reward)) resolved.reward = reward.map((text) => resolveReward(text, folder));
  return { ...config, ...resolved };
}

function resolveReward(text: string, folder: string): string {
  if (typeof text !== 'string') return text;
  const spec = splitRewardSpec(text);
  if (!['file', 'human', 'model'].includes(spec.kind) || spec.place === '') return text;
  return formatRewardSpec({ ...spec, place: resolvePath(spec.place, folder) });
}

/** A text that could also be a hub id is a path if it exists or looks like one. */
function resolveIfPath(text: string, folder: string): string {
  const path = resolvePath(text, folder);
  return /^\.{1,2}([\\/]|$)/.test(text) || dataFile.test(text) || existsSync(path) ? path : text;
}

function resolvePath(text: string, folder: string): string {
  return isAbsolute(text) ? text : join(folder, text);
}
