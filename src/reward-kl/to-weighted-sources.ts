import { FunctionSource, ownName } from './function-source.ts';
import type { RewardFunction, RewardSource, WeightedSource } from './reward-source.ts';

/** A reward and its weight in the sum of all rewards. */
export interface WeightedReward {
  readonly source: RewardFunction | RewardSource;
  /** 1 by default. */
  readonly weight?: number | undefined;
}

/** One reward: a function, a source, or either with a weight. */
export type Reward = RewardFunction | RewardSource | WeightedReward;

/** Rewards as users write them: one, a list, or an object whose keys are the names. */
export type Rewards = Reward | readonly Reward[] | Readonly<Record<string, Reward>>;

export interface RewardsContext {
  /** Start of error messages. */
  readonly subject?: string;
  /** Name of an unnamed function. */
  readonly fallbackName?: string;
}

/** Converts rewards as users write them to sources with names and weights.
 *  @example (sample) => 1                                      →  reward, weight 1
 *  @example { brevity, polite: { source: judge, weight: 0.5 } }  →  brevity, weight 1; polite, weight ½ */
export function toWeightedSources(
  rewards: Rewards,
  { subject = 'Cannot use the rewards: they', fallbackName }: RewardsContext = {},
): WeightedSource[] {
  if (isReward(rewards)) return [toWeighted(rewards, { subject, fallbackName })];
  const entries = isObject(rewards) || Array.isArray(rewards) ? Object.entries(rewards) : [];
  if (entries.length === 0) {
    throw new TypeError(
      `${subject} must be a reward function, a RewardSource, { source, weight }, or an object of these by name, got ${describe(rewards)}`,
    );
  }
  return entries.map(([key, reward]) => {
    if (!isReward(reward)) {
      throw new TypeError(
        `${subject} must have a reward function, a RewardSource or { source, weight } as "${key}", got ${describe(reward)}`,
      );
    }
    return toWeighted(reward, { subject, ...(Array.isArray(rewards) ? {} : { name: key }) });
  });
}

/** Names and weighs rewards in the form that trainers and reward files accept: the score is
 *  Σ weight·reward, and each reward has its own metrics.
 *  @example { short: [brevity(), 0.5], polite }
 *    →  { short: { source: brevity(), weight: 0.5 }, polite: { source: polite, weight: 1 } } */
export function combine<Name extends string>(
  rewards: Readonly<Record<Name, UnweightedReward | readonly [UnweightedReward, weight: number]>>,
): Record<Name, WeightedReward> {
  const entries = Object.entries<UnweightedReward | readonly [UnweightedReward, number]>(rewards);
  const weighted = entries.map(([name, reward]) => {
    const [source, weight] = isPair(reward) ? reward : [reward, 1];
    return [name, { source, weight }];
  });
  return Object.fromEntries(weighted);
}

type UnweightedReward = RewardFunction | RewardSource;

function isPair<T>(reward: T | readonly [T, number]): reward is readonly [T, number] {
  return Array.isArray(reward);
}

interface NamingOptions {
  readonly subject: string;
  /** Overrides the source's own name. */
  readonly name?: string;
  readonly fallbackName?: string | undefined;
}

function toWeighted(
  reward: Reward,
  { subject, name, fallbackName }: NamingOptions,
): WeightedSource {
  const { source: unnamed, weight = 1 } = isWeighted(reward) ? reward : { source: reward };
  if (typeof weight !== 'number' || !Number.isFinite(weight)) {
    throw new TypeError(`${subject} must have finite weights, got ${describe(weight)}`);
  }
  const source =
    typeof unnamed === 'function'
      ? new FunctionSource(unnamed, { name: name ?? (ownName(unnamed) || fallbackName) })
      : renamed(unnamed, name ?? unnamed.name);
  return { source, weight };
}

function renamed(source: RewardSource, name: string): RewardSource {
  if (name === source.name) return source;
  return {
    ...{ name, timeout: source.timeout },
    score: (...args) => source.score(...args),
    dispose: () => source.dispose?.(),
  };
}

/** A class is also a function but cannot be called. */
function isRewardFunction(value: unknown): value is RewardFunction {
  return typeof value === 'function' && !isClass(value);
}

function isRewardSource(value: unknown): value is RewardSource {
  return isObject(value) && typeof value.name === 'string' && typeof value.score === 'function';
}

function isWeighted(value: unknown): value is WeightedReward {
  return isObject(value) && (isRewardFunction(value.source) || isRewardSource(value.source));
}

function isReward(value: unknown): value is Reward {
  return isRewardFunction(value) || isRewardSource(value) || isWeighted(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

function describe(value: unknown): string {
  if (typeof value === 'function') return `the class ${value.name}`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (isObject(value)) return `an object with ${Object.keys(value).join(', ') || 'nothing'}`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
