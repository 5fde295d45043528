import { existsSync } from 'node:fs';
import { ConfigError } from '../config/parse-config.ts';
import { parseRewardSpec, type RewardSpec } from '../config/reward-spec.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import { type LoadedModel, loadRewardModel, RewardModel, randomHead } from '../models/index.ts';
import { readRewardModel } from '../models/reward-model-files.ts';

import type { PPOComponents } from '../ppo-trainer/components.ts';
import { Evaluator } from '../ppo-trainer/evaluator.ts';
import { describeRandomHead } from '../ppo-trainer/roles.ts';
import {
  checkRewardFile,
  FunctionSource,
  HumanSource,
  LiveHumanSource,
  loadNamedReward,
  loadRewardFile,
  RemoteSource,
  RewardComputer,
  RewardModelSource,
  type RewardSource,
  type WeightedSource,
} from '../reward-kl/index.ts';
import {
  createNamedReward,
  hasPatterns,
  parseNamedReward,
} from '../reward-kl/library/named-rewards.ts';
import { findAdapter } from './find-model.ts';

type RewardConfig = Pick<
  RunConfig,
  'reward' | 'rewardTimeout' | 'humanFallback' | 'humanTimeout' | 'seed' | 'valueInit'
>;

export interface LoadRewardsOptions {
  /** The base of the reward models. */
  readonly model: LoadedModel;
  /** URLs of modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Stops the import of reward files. */
  readonly signal?: AbortSignal | undefined;
  /** Folder for live human scores; without it, people cannot score. */
  readonly humanFolder?: string | undefined;
  /** Receives a sentence about a reward model that is untrained or may be for another base. */
  readonly warn?: ((message: string) => void) | undefined;
}

export interface RunRewards {
  readonly rewards: readonly WeightedSource[];
  /** The one among `rewards` that the value model starts as a copy of, if it does. */
  readonly rewardModel: RewardModel | undefined;
  /** The one among `rewards` that people score while the run waits. */
  readonly live: LiveHumanSource | undefined;
  /** Releases what the sources hold. */
  dispose(): void;
}

/** Checks that all rewards exist, before anything large is loaded. */
export async function checkRewards({ reward }: Pick<RunConfig, 'reward'>): Promise<void> {
  checkNames(reward.map(parseRewardSpec).flatMap(knownName));
  for (const { kind, place } of reward.map(parseRewardSpec)) {
    if (kind === 'library') openLibraryReward({ place });
    if (kind === 'library' || kind === 'server' || kind === 'live') continue;
    if (!existsSync(place)) throw describeMissing(kind, place);
    if (kind === 'model') await findAdapter(place, { role: 'reward' });
  }
}

function describeMissing(kind: 'file' | 'human' | 'model', place: string): Error {
  const wanted = {
    file: 'a TypeScript or JavaScript file with a reward function as default export',
    human: 'a JSON Lines file with scores',
    model: "the folder of a reward model's adapter, or of a run of proximal reward",
  }[kind];
  return new Error(`Cannot use the reward ${place}: it must be ${wanted}, got no such file`);
}

export interface TryRewardsOptions extends Pick<LoadRewardsOptions, 'modules'> {
  /** The base of the reward models. */
  readonly base: ModelHeader['base'];
}

/** Opens the rewards and closes them again, without a model in memory. Throws what `loadRewards` would
 *  throw, and returns its warnings about reward models. */
export async function tryRewards(
  config: Pick<RunConfig, 'reward' | 'humanFallback'>,
  { base, modules }: TryRewardsOptions,
): Promise<string[]> {
  const names: string[] = [];
  const warnings: string[] = [];
  for (const { kind, place, name } of config.reward.map(parseRewardSpec)) {
    if (kind === 'file') names.push(...(await checkRewardFile(place, { name, modules })));
    else if (kind === 'model') {
      const folder = await findAdapter(place, { role: 'reward' });
      const { warning } = await readRewardModel(folder, base);
      if (warning !== undefined) warnings.push(warning);
      names.push(name ?? RewardModel.name);
    } else names.push((await tryReward({ kind, place, name }, config)).name);
  }
  checkNames(names);
  return warnings;
}

/** Opens a reward that needs neither a model nor a thread. */
async function tryReward(
  { kind, place, name }: Pick<RewardSpec, 'kind' | 'place' | 'name'>,
  { humanFallback: fallback }: Pick<RunConfig, 'humanFallback'>,
): Promise<Pick<RewardSource, 'name'>> {
  if (kind === 'library') return openLibraryReward({ name, place }).source;
  if (kind === 'human') return HumanSource.load(place, { name, fallback });
  return kind === 'server' ? new RemoteSource({ url: place, name }) : { name: name ?? 'human' };
}

/** Opens the rewards that a config names. */
export async function loadRewards(
  config: RewardConfig,
  options: LoadRewardsOptions,
): Promise<RunRewards> {
  const rewards: WeightedSource[] = [];
  let rewardModel: RewardModel | undefined;
  for (const spec of config.reward.map(parseRewardSpec)) {
    if (spec.kind === 'model') {
      const model = await openRewardModel(spec.place, options);
      if (config.valueInit === 'reward') rewardModel = model;
      rewards.push({ source: new RewardModelSource(model, spec), weight: spec.weight });
    } else rewards.push(...(await openSource(spec, config, options)));
  }
  checkNames(rewards.map(({ source }) => source.name));
  const timed = rewards.map((reward) => withTimeout(reward, config));
  const live = rewards.map(({ source }) => source).find((s) => s instanceof LiveHumanSource);
  const dispose = () => {
    for (const { source } of rewards) source.dispose?.();
  };
  return { rewards: timed, rewardModel, live, dispose };
}

/** Whether all scores come from people while the run waits. Then evaluation is impossible. */
export function hasOnlyHumanReward({ reward }: Pick<RunConfig, 'reward'>): boolean {
  return reward.length > 0 && reward.every((text) => parseRewardSpec(text).kind === 'live');
}

/** The config without live human scores: people score training responses only. */
export function withoutHumanReward<C extends Pick<RunConfig, 'reward'>>(config: C): C {
  if (hasOnlyHumanReward(config)) throw describeOnlyHuman();
  const reward = config.reward.filter((text) => parseRewardSpec(text).kind !== 'live');
  return { ...config, reward };
}

function describeOnlyHuman(): Error {
  return new Error(
    'Cannot evaluate with the reward human alone: people score training responses only, so another reward is required, got none; ' +
      'add one, such as --reward human:scores.jsonl or --reward reward.ts',
  );
}

async function openSource(
  { name, kind, place, weight }: RewardSpec,
  { rewardTimeout, humanFallback: fallback, humanTimeout: timeout, seed }: RewardConfig,
  options: LoadRewardsOptions,
): Promise<WeightedSource[]> {
  const { model, modules, signal, humanFolder, warn } = options;
  if (kind === 'library') {
    const reward = parseNamedReward(place);
    if (hasPatterns(reward.name)) return loadNamedReward(reward, { name, signal });
    return [openLibraryReward({ name, place })];
  }
  if (kind === 'server') {
    const source = new RemoteSource({ url: place, name, timeout: rewardTimeout, seed });
    return [{ source, weight }];
  }
  if (kind === 'human') {
    return [{ source: await HumanSource.load(place, { name, fallback }), weight }];
  }
  if (kind === 'live') {
    if (humanFolder === undefined) throw describeOnlyHuman();
    return [{ source: new LiveHumanSource(humanFolder, { name, fallback, timeout }), weight }];
  }
  const { base, tokenizer } = model;
  const head = randomHead(base.architecture.config.hidden_size, seed);
  const sources = await loadRewardFile(place, {
    rewardModel: (Class) => {
      warn?.(
        describeRandomHead(Class, { startsValue: false, remedy: 'use --reward model:folder' }),
      );
      return { base, tokenizer, head };
    },
    ...{ name, modules, signal },
  });
  return sources.map((source) => ({ ...source, weight: weight * source.weight }));
}

async function openRewardModel(
  place: string,
  { model, warn }: LoadRewardsOptions,
): Promise<RewardModel> {
  const { base, tokenizer } = model;
  const folder = await findAdapter(place, { role: 'reward' });
  return loadRewardModel(folder, { base, tokenizer, warn });
}

/** Opens a reward of the library by name; an unknown name or option throws. */
function openLibraryReward({ name, place }: Pick<RewardSpec, 'name' | 'place'>): WeightedSource {
  const { name: kind, options, weight } = parseNamedReward(place);
  return { source: new FunctionSource(createNamedReward(kind, options), { name }), weight };
}

/** The name of a reward, if it is known before it is opened. */
function knownName({ name, kind, place }: RewardSpec): string[] {
  if (name !== undefined) return kind === 'file' ? [] : [name];
  return kind === 'library' ? [parseNamedReward(place).name] : [];
}

/** Metrics, evaluations and samples use the names, so they must differ. */
function checkNames(names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return;
  throw new ConfigError(
    `Cannot use the rewards: their names must differ, got "${twice}" twice; write a name before a reward, such as --reward polite=keyword:please --reward brief=keyword:short`,
  );
}

/** Applies the run's timeout to a source without a timeout. */
function withTimeout(
  { source, weight }: WeightedSource,
  { rewardTimeout }: RewardConfig,
): WeightedSource {
  if (source.timeout !== undefined) return { source, weight };
  const timed: RewardSource = {
    name: source.name,
    timeout: rewardTimeout,
    score: (samples, context) => source.score(samples, context),
  };
  return { source: timed, weight };
}

/** How a run with live human scores is evaluated. */
export interface EvaluationWithoutPeople {
  readonly canEvaluate: boolean;
  readonly warning: string;
  /** Replaces the evaluator. */
  replace(components: PPOComponents): Partial<PPOComponents>;
}

/** Evaluates with the other rewards, because people do not score evaluations; undefined if the run
 *  has no live human scores. There is no explained variance: values also predict human scores. */
export function evaluationWithoutPeople({
  rewards,
  live,
}: Pick<RunRewards, 'rewards' | 'live'>): EvaluationWithoutPeople | undefined {
  if (live === undefined) return undefined;
  const sources = rewards.filter(({ source }) => source !== live);
  if (sources.length === 0) {
    const warning =
      'There will be no evaluations: people score training responses only, and there is no other reward. Set validationFraction to 0 to train on all prompts';
    return { canEvaluate: false, warning, replace: () => ({}) };
  }
  return {
    canEvaluate: true,
    warning: `Evaluations leave out human scores, because people score training responses only; they use ${sources.map(({ source }) => source.name).join(', ')}`,
    replace: ({ config, policy, reference, episodes }) => ({
      makeEvaluator: (training) => {
        const computer = new RewardComputer({ config, sources });
        return new Evaluator({
          config: { ...config, ...training },
          policy,
          reference,
          episodes,
          scorer: (samples, context) => computer.score(samples, context),
        });
      },
    }),
  };
}
