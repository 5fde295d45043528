import { explainedVariance, mean, standardDeviation } from '../columns/index.ts';
import { type Episode, episodeMetrics } from '../environments/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { Metrics } from '../loop/records.ts';
import { rolloutMismatch } from '../training/index.ts';

/** Metrics of a rollout before any update: lengths, ends, entropy, returns, with a value model how well V
 *  predicted them and, with an environment, turns and tool calls.
 *  objective/entropy = mean over sequences of −Σ_t log π_old, as TRL has it. */
export function rolloutMetrics(
  experience: Experience,
  {
    hasValues,
    episodes,
  }: { readonly hasValues: boolean; readonly episodes?: readonly Episode[] | undefined },
): Metrics {
  const { sequences, offsets, logprobs, returns, values } = experience;
  const lengths = sequences.map((_, i) => offsets[i + 1]! - offsets[i]!);
  return {
    'objective/entropy': -sum(logprobs) / sequences.length,
    'val/rollout_mismatch': rolloutMismatch(experience),
    'val/num_eos_tokens': sequences.filter(({ finished }) => finished).length,
    'completions/mean_length': mean(lengths),
    'completions/min_length': Math.min(...lengths),
    'completions/max_length': Math.max(...lengths),
    'ppo/returns/mean': mean(returns),
    'ppo/returns/var': standardDeviation(returns) ** 2,
    ...(hasValues && { 'ppo/val/var_explained': explainedVariance(returns, values) }),
    ...(episodes && episodeMetrics(episodes)),
  };
}

/** Means over the optimiser steps of an update, per metric. */
export function averageMetrics(steps: readonly Metrics[]): Metrics {
  const names = [...new Set(steps.flatMap((metrics) => Object.keys(metrics)))];
  const averages = names.map((name) => {
    const numbers = steps.flatMap((metrics) => metrics[name] ?? []);
    return [name, sum(numbers) / numbers.length];
  });
  return Object.fromEntries(averages);
}

/** Short names for four of TRL's metrics. */
export function shortNames(metrics: Metrics): Metrics {
  return {
    policy_loss: metrics['loss/policy_avg']!,
    value_loss: metrics['loss/value_avg'] ?? Number.NaN,
    kl_div: metrics['objective/kl']!,
    avg_reward: metrics['objective/scores']!,
  };
}

function sum(numbers: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < numbers.length; i++) total += numbers[i]!;
  return total;
}
