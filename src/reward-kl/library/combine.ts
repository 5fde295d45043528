import type { RewardFunction, RewardSource } from '../reward-source.ts';
import type { WeightedReward } from '../to-weighted-sources.ts';

type Source = RewardFunction | RewardSource;

/** Rewards by name with their weights, in the form that trainers and reward files take: the score is
 *  Σ weight·reward, and each reward keeps metrics of its own.
 *  @example { short: [brevity(), 0.5], polite }
 *    →  { short: { source: brevity(), weight: 0.5 }, polite: { source: polite, weight: 1 } } */
export function combine<Name extends string>(
  rewards: Readonly<Record<Name, Source | readonly [reward: Source, weight: number]>>,
): Record<Name, WeightedReward> {
  const entries = Object.entries<Source | readonly [Source, number]>(rewards);
  const weighted = entries.map(([name, reward]) => {
    const [source, weight] = isPair(reward) ? reward : [reward, 1];
    return [name, { source, weight }];
  });
  return Object.fromEntries(weighted);
}

function isPair(reward: Source | readonly [Source, number]): reward is readonly [Source, number] {
  return Array.isArray(reward);
}
