import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { dataConfigShape, findDataContradiction } from './data-config.ts';
import { ConfigError, parseConfig } from './parse-config.ts';
import { findPpoContradiction, ppoConfigShape } from './ppo-config.ts';
import { trainingConfigShape } from './training-config.ts';

const name = z.string().min(1);

/** Where scores come from, where the run goes, and what it may take. */
export const runOwnShape = {
  memory: z
    .string()
    .regex(/^\d+(\.\d+)? ?[kMG]B$/)
    .optional()
    .meta({ rule: 'a number with kB, MB or GB, such as 4GB' })
    .describe(
      'Most memory that the run may take, such as 4GB: rollout precision, texts and tokens at once and kept values give way until it fits',
    ),
  output: name.optional().describe('Folder of the run, new or empty; runs/ppo-<time> if not given'),
  reward: z
    .array(name)
    .default([])
    .describe(
      'Where scores come from: reward.ts, http://server/score, human (people score while the run waits), human:scores.jsonl or model:folder, with =0.5 at the end as weight; or one of the library, such as brevity:target=20,weight=0.5; may be given again',
    ),
  rewardTimeout: z
    .number()
    .positive()
    .default(60_000)
    .describe('Milliseconds without a new score after which a reward counts as hung'),
  humanFallback: z
    .number()
    .optional()
    .describe(
      'Score of a response that people did not score: one that human: scores do not hold, or that live ones miss in time; without it the run ends there',
    ),
  humanTimeout: z
    .number()
    .positive()
    .optional()
    .describe(
      'Seconds without a new live human score after which the run no longer waits for people; for ever if not given',
    ),
};

/** All that a run of PPO is told, as one flat list: a config file's keys and the command's flags. */
export const runConfigShape = {
  ...dataConfigShape,
  ...ppoConfigShape,
  ...trainingConfigShape,
  ...runOwnShape,
};

export const runConfigSchema = z.strictObject(runConfigShape).superRefine((config, context) => {
  const message = findRunContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** What a user may give: everything but prompts and reward has a default. */
export type RunConfigOptions = z.input<typeof runConfigSchema>;

/** A run with every default filled in. */
export type RunConfig = Readonly<z.output<typeof runConfigSchema>>;

/** Checks a run's config and fills in the defaults.
 *  @param options.name what the config is called in errors, such as `train.yaml` */
export function resolveRunConfig(
  options: RunConfigOptions,
  { name: called = 'the run config' }: { readonly name?: string } = {},
): RunConfig {
  return parseConfig(runConfigSchema, options, { name: called });
}

function findRunContradiction(config: RunConfig): string | undefined {
  const { reward, valueInit } = config;
  if (reward.length === 0) {
    return 'reward must be given, such as reward.ts, http://server/score, human, human:scores.jsonl or model:folder, got none';
  }
  const faults = reward.map(findRewardFault).filter((fault) => fault !== undefined);
  if (faults.length > 0) return faults[0];
  const models = reward.map(parseRewardSpec).filter(({ kind }) => kind === 'model');
  if (valueInit === 'reward' && (models.length !== 1 || models[0]!.weight !== 1)) {
    return `valueInit must be zero unless one reward is a model: of weight 1, whose copy the value model starts as, got ${reward.join(', ')}`;
  }
  return findPpoContradiction(config) ?? findDataContradiction(config);
}

/** A source of scores as it is written in a config. */
export interface RewardSpec {
  readonly kind: 'file' | 'server' | 'human' | 'live' | 'model' | 'library';
  /** Path or address; of the library, the reward with its options and weight; of people who score
   *  while the run waits, `human`. */
  readonly place: string;
  readonly weight: number;
}

/** Reads a source of scores. An address with a query has no weight, as it may end with `=` and a number.
 *  @example 'reward.ts'             →  file reward.ts, weight 1
 *  @example 'model:runs/rm=0.5'     →  model runs/rm, weight ½
 *  @example 'human=2'               →  live human, weight 2
 *  @example 'brevity:target=20'     →  library brevity:target=20
 *  @example 'http://host/score?v=2' →  server http://host/score?v=2, weight 1 */
export function parseRewardSpec(text: string): RewardSpec {
  const fault = findRewardFault(text);
  if (fault !== undefined) throw new ConfigError(`Cannot use the run config: ${fault}`);
  return splitRewardSpec(text);
}

/** A name alone, or with options or a weight: paths have dots or slashes, the others a scheme. */
const libraryReward = /^(?!(human|model|https?):|human(=|$))[A-Za-z]{2,}([:=].*)?$/s;

function findRewardFault(text: string): string | undefined {
  const { place } = splitRewardSpec(text);
  return place === ''
    ? `reward must name a file, a server or a folder, got ${JSON.stringify(text)}`
    : undefined;
}

function splitRewardSpec(text: string): RewardSpec {
  if (libraryReward.test(text)) return { kind: 'library', place: text, weight: 1 };
  const isServer = /^https?:\/\//i.test(text);
  const weighted = /^(.*)=([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/is.exec(text);
  const [, whole = text, weight = '1'] = (isServer && text.includes('?') ? null : weighted) ?? [];
  if (isServer) return { kind: 'server', place: whole, weight: Number(weight) };
  if (whole === 'human') return { kind: 'live', place: whole, weight: Number(weight) };
  const [, kind = 'file', place = whole] = /^(human|model):(.*)$/s.exec(whole) ?? [];
  return { kind: kind as RewardSpec['kind'], place, weight: Number(weight) };
}

function formatRewardSpec({ kind, place, weight }: RewardSpec): string {
  const scheme = kind === 'human' || kind === 'model' ? `${kind}:` : '';
  return `${scheme}${place}${weight === 1 ? '' : `=${weight}`}`;
}

const dataFile = /\.(jsonl|ndjson|json|csv|tsv|txt|parquet)(\.gz)?$/i;

/** What may be paths, in a run of PPO or of a stage. */
type Paths = Partial<
  Pick<
    RunConfigOptions,
    'modelName' | 'adapter' | 'prompts' | 'validationFile' | 'output' | 'reward'
  >
> & { data?: string };

/** The same config with relative paths taken from a folder; ids on the hub and addresses stay.
 *  @example { prompts: 'p.jsonl', modelName: 'Qwen/Qwen3-0.6B' }, 'conf'
 *    →  { prompts: 'conf/p.jsonl', modelName: 'Qwen/Qwen3-0.6B' } */
export function placePaths<C extends Paths>(config: C, folder: string): C {
  const placed: Paths = {};
  const { modelName, adapter, prompts, data, validationFile, output, reward } = config;
  if (typeof modelName === 'string') placed.modelName = placeIfPath(modelName, folder);
  if (typeof prompts === 'string') placed.prompts = placeIfPath(prompts, folder);
  if (typeof data === 'string') placed.data = placeIfPath(data, folder);
  if (typeof validationFile === 'string')
    placed.validationFile = placeIfPath(validationFile, folder);
  if (typeof output === 'string') placed.output = placePath(output, folder);
  if (typeof adapter === 'string') placed.adapter = placePath(adapter, folder);
  if (Array.isArray(reward)) placed.reward = reward.map((text) => placeReward(text, folder));
  return { ...config, ...placed };
}

function placeReward(text: string, folder: string): string {
  if (typeof text !== 'string') return text;
  const spec = splitRewardSpec(text);
  if (!['file', 'human', 'model'].includes(spec.kind) || spec.place === '') return text;
  return formatRewardSpec({ ...spec, place: placePath(spec.place, folder) });
}

/** What may as well be the id of something on the hub is a path if it exists or looks like one. */
function placeIfPath(text: string, folder: string): string {
  const path = placePath(text, folder);
  return /^\.{1,2}([\\/]|$)/.test(text) || dataFile.test(text) || existsSync(path) ? path : text;
}

function placePath(text: string, folder: string): string {
  return isAbsolute(text) ? text : join(folder, text);
}
