import { FunctionSource, givenName } from './function-source.ts';
import type { RewardFunction, RewardSource, WeightedSource } from './reward-source.ts';

export interface WeightedReward {
  readonly source: RewardFunction | RewardSource;
  /** 1 if not given. */
  readonly weight?: number | undefined;
}

export type Reward = RewardFunction | RewardSource | WeightedReward;

/** Where scores come from, as users write it: one, a list, or an object whose keys are the names. */
export type Rewards = Reward | readonly Reward[] | Readonly<Record<string, Reward>>;

export interface RewardsContext {
  /** Begins an error: what is being done with what. */
  readonly subject?: string;
  /** What a function without a name is called. */
  readonly fallbackName?: string;
}

/** Sources with names and weights from what users write.
 *  @example (sample) => 1                                      →  reward, weight 1
 *  @example { brevity, polite: { source: judge, weight: 0.5 } }  →  brevity, weight 1; polite, weight ½ */
export function toWeightedSources(
  rewards: Rewards,
  { subject = 'Cannot use the rewards: what is given', fallbackName }: RewardsContext = {},
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

interface Naming {
  readonly subject: string;
  /** What the source is called, whatever its own name. */
  readonly name?: string;
  readonly fallbackName?: string | undefined;
}

function toWeighted(reward: Reward, { subject, name, fallbackName }: Naming): WeightedSource {
  const { source: given, weight = 1 } = isWeighted(reward) ? reward : { source: reward };
  if (typeof weight !== 'number' || !Number.isFinite(weight)) {
    throw new TypeError(`${subject} must have finite numbers as weights, got ${describe(weight)}`);
  }
  const source =
    typeof given === 'function'
      ? new FunctionSource(given, { name: name ?? (givenName(given) || fallbackName) })
      : renamed(given, name ?? given.name);
  return { source, weight };
}

function renamed(source: RewardSource, name: string): RewardSource {
  if (name === source.name) return source;
  return { name, timeout: source.timeout, score: (...given) => source.score(...given) };
}

/** A class is a function too, but cannot be called. */
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
