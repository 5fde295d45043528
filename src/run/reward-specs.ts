import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseRewardSpec, type RewardSpec } from '../config/reward-spec.ts';
import { type RunConfig } from '../config/run-config.ts';
import {
  type LoadedModel,
  loadRewardModel,
  type RewardModel,
  randomHead,
} from '../models/index.ts';
import {
  FunctionSource,
  HumanSource,
  LiveHumanSource,
  loadRewardFile,
  RemoteSource,
  RewardModelSource,
  type RewardSource,
  type WeightedSource,
} from '../reward-kl/index.ts';
import { createNamedReward, parseNamedReward } from '../reward-kl/library/named-rewards.ts';
import { stateName } from './run-state.ts';

type RewardConfig = Pick<
  RunConfig,
  'reward' | 'rewardTimeout' | 'humanFallback' | 'humanTimeout' | 'seed' | 'valueInit'
>;

export interface LoadRewardsOptions {
  /** The base of reward models. */
  readonly model: LoadedModel;
  /** Modules that reward files may import by name without an installation, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
  /** Where people are asked for scores while the run waits; without it nobody can be asked. */
  readonly humanFolder?: string | undefined;
}

export interface RunRewards {
  /** Undefined where the reward model is the only one. */
  readonly rewards: readonly WeightedSource[] | undefined;
  /** Set where the value model starts as a copy of it; it is then not among `rewards`. */
  readonly rewardModel: RewardModel | undefined;
  /** That of `rewards` which people give while the run waits. */
  readonly live: LiveHumanSource | undefined;
}

/** Says what is missing before anything large is loaded. */
export function checkRewards({ reward }: Pick<RunConfig, 'reward'>): void {
  for (const { kind, place } of reward.map(parseRewardSpec)) {
    if (kind === 'library') openLibraryReward(place);
    if (kind === 'model' && existsSync(place)) findRewardModel(place);
    if (kind === 'library' || kind === 'server' || kind === 'live' || existsSync(place)) continue;
    const wanted = {
      file: 'a TypeScript or JavaScript file with a reward function as default export',
      human: 'a JSON Lines file with scores',
      model: "the folder of a reward model's adapter, or of a run of proximal reward",
    }[kind];
    throw new Error(`Cannot use the reward ${place}: it must be ${wanted}, got nothing there`);
  }
}

/** Opens the sources of scores that a config names. */
export async function loadRewards(
  config: RewardConfig,
  options: LoadRewardsOptions,
): Promise<RunRewards> {
  const rewards: WeightedSource[] = [];
  let rewardModel: RewardModel | undefined;
  for (const spec of config.reward.map(parseRewardSpec)) {
    if (spec.kind === 'model' && config.valueInit === 'reward') {
      rewardModel = await loadRewardModel(findRewardModel(spec.place), options.model);
    } else rewards.push(...(await openSource(spec, config, options)));
  }
  const limited = rewards.map((reward) => withTimeout(reward, config));
  const live = rewards.map(({ source }) => source).find((s) => s instanceof LiveHumanSource);
  return { rewards: limited.length > 0 ? limited : undefined, rewardModel, live };
}

/** Whether people alone give the scores while a run waits: then nothing can be evaluated. */
export function asksPeopleAlone({ reward }: Pick<RunConfig, 'reward'>): boolean {
  return reward.every((text) => parseRewardSpec(text).kind === 'live');
}

/** The same config without the reward that people give while a run waits: nobody is asked to score
 *  evaluations. */
export function leaveOutPeople<C extends Pick<RunConfig, 'reward'>>(config: C): C {
  if (asksPeopleAlone(config)) throw describeNobody();
  const reward = config.reward.filter((text) => parseRewardSpec(text).kind !== 'live');
  return { ...config, reward };
}

function describeNobody(): Error {
  return new Error(
    'Cannot evaluate with the reward human alone: nobody is asked to score evaluations, got no other reward; ' +
      'give one, such as --reward human:scores.jsonl or --reward reward.ts',
  );
}

async function openSource(
  { kind, place, weight }: RewardSpec,
  { rewardTimeout, humanFallback: fallback, humanTimeout: timeout, seed }: RewardConfig,
  { model, modules, humanFolder }: LoadRewardsOptions,
): Promise<WeightedSource[]> {
  if (kind === 'library') return [openLibraryReward(place)];
  if (kind === 'server') {
    return [{ source: new RemoteSource({ url: place, timeout: rewardTimeout, seed }), weight }];
  }
  if (kind === 'human') {
    return [{ source: await HumanSource.load(place, { fallback }), weight }];
  }
  if (kind === 'live') {
    if (humanFolder === undefined) throw describeNobody();
    return [{ source: new LiveHumanSource(humanFolder, { fallback, timeout }), weight }];
  }
  if (kind === 'model') {
    const source = new RewardModelSource(await loadRewardModel(findRewardModel(place), model));
    return [{ source, weight }];
  }
  const { base, tokenizer } = model;
  const head = randomHead(base.architecture.config.hidden_size, seed);
  const sources = await loadRewardFile(place, {
    rewardModel: () => ({ base, tokenizer, head }),
    modules,
  });
  return sources.map((source) => ({ ...source, weight: weight * source.weight }));
}

/** The folder of a reward model's adapter: the folder itself, or where a run has it. */
function findRewardModel(folder: string): string {
  if (existsSync(join(folder, 'adapter_config.json'))) return folder;
  const model = join(folder, 'model');
  if (existsSync(join(model, 'adapter_config.json'))) return model;
  const isRun = existsSync(join(folder, stateName));
  throw new Error(
    isRun
      ? `Cannot use the reward ${folder}: its run must be done, got no model in it; resume it with "proximal reward --resume"`
      : `Cannot use the reward ${folder}: it must hold adapter_config.json, as PEFT and "proximal reward" save it, got none`,
  );
}

/** A reward of the library by name; a wrong name or option is an error at once. */
function openLibraryReward(text: string): WeightedSource {
  const { name, options, weight } = parseNamedReward(text);
  return { source: new FunctionSource(createNamedReward(name, options)), weight };
}

/** A source without a limit of its own gets the run's. */
function withTimeout(
  { source, weight }: WeightedSource,
  { rewardTimeout }: RewardConfig,
): WeightedSource {
  if (source.timeout !== undefined) return { source, weight };
  const limited: RewardSource = {
    name: source.name,
    timeout: rewardTimeout,
    score: (samples, context) => source.score(samples, context),
  };
  return { source: limited, weight };
}
