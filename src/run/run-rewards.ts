import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseRewardSpec, type RewardSpec } from '../config/reward-spec.ts';
import type { RunConfig } from '../config/run-config.ts';
import {
  type LoadedModel,
  loadRewardModel,
  type RewardModel,
  randomHead,
} from '../models/index.ts';
import type { PPOComponents } from '../ppo-trainer/components.ts';
import { Evaluator } from '../ppo-trainer/evaluator.ts';
import {
  FunctionSource,
  HumanSource,
  LiveHumanSource,
  loadRewardFile,
  RemoteSource,
  RewardComputer,
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
  /** The base of the reward models. */
  readonly model: LoadedModel;
  /** Modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
  /** Folder through which people are asked for scores; without it nobody can be asked. */
  readonly humanFolder?: string | undefined;
}

export interface RunRewards {
  /** Undefined if the reward model is the only reward. */
  readonly rewards: readonly WeightedSource[] | undefined;
  /** Set if the value model starts as a copy of it; it is then not among `rewards`. */
  readonly rewardModel: RewardModel | undefined;
  /** The one among `rewards` that people score while the run waits. */
  readonly live: LiveHumanSource | undefined;
}

/** Checks that all rewards exist, before anything large is loaded. */
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
    throw new Error(`Cannot use the reward ${place}: it must be ${wanted}, got no such file`);
  }
}

/** Opens the rewards that a config names. */
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
  const timed = rewards.map((reward) => withTimeout(reward, config));
  const live = rewards.map(({ source }) => source).find((s) => s instanceof LiveHumanSource);
  return { rewards: timed.length > 0 ? timed : undefined, rewardModel, live };
}

/** Whether all scores come from people while the run waits. Then evaluation is impossible. */
export function hasOnlyHumanReward({ reward }: Pick<RunConfig, 'reward'>): boolean {
  return reward.every((text) => parseRewardSpec(text).kind === 'live');
}

/** The config without the reward that people give while a run waits: nobody is asked to score
 *  evaluations. */
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
    if (humanFolder === undefined) throw describeOnlyHuman();
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

/** The folder of a reward model's adapter: the folder itself, or the one inside a run. */
function findRewardModel(folder: string): string {
  if (existsSync(join(folder, 'adapter_config.json'))) return folder;
  const model = join(folder, 'model');
  if (existsSync(join(model, 'adapter_config.json'))) return model;
  const isRun = existsSync(join(folder, stateName));
  throw new Error(
    isRun
      ? `Cannot use the reward ${folder}: its run must be complete, got no model in it; resume it with "proximal reward --resume"`
      : `Cannot use the reward ${folder}: it must contain adapter_config.json, as saved by PEFT or "proximal reward", got none`,
  );
}

/** Opens a reward of the library by name; an unknown name or option throws. */
function openLibraryReward(text: string): WeightedSource {
  const { name, options, weight } = parseNamedReward(text);
  return { source: new FunctionSource(createNamedReward(name, options)), weight };
}

/** Applies the run's timeout to a source without one of its own. */
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

/** Evaluates with the other rewards, since nobody is asked to score evaluations; undefined if the run
 *  has no live human scores. There is no explained variance: values also predict human scores. */
export function evaluationWithoutPeople({
  rewards = [],
  rewardModel,
  live,
}: RunRewards): EvaluationWithoutPeople | undefined {
  if (live === undefined) return undefined;
  const sources = rewards.filter(({ source }) => source !== live);
  if (rewardModel) sources.push({ source: new RewardModelSource(rewardModel), weight: 1 });
  if (sources.length === 0) {
    const warning =
      'There will be no evaluations: people score training responses only, and there is no other reward. Set validationFraction to 0 to train on all prompts';
    return { canEvaluate: false, warning, replace: () => ({}) };
  }
  return {
    canEvaluate: true,
    warning: `Evaluations leave out human scores, because people score training responses only; they use ${sources.map(({ source }) => source.name).join(', ')}`,
    replace: ({ config, policy, reference }) => ({
      makeEvaluator: (training) => {
        const computer = new RewardComputer({ config, sources });
        return new Evaluator({
          config: { ...config, ...training },
          policy,
          reference,
          scorer: (samples, context) => computer.score(samples, context),
        });
      },
    }),
  };
}
