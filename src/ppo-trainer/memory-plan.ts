import type { Architecture } from '../models/decoder/families/index.ts';
import {
  type MemoryEstimate,
  MemoryEstimator,
  type MemoryOptions,
  type MemorySettings,
} from './memory-estimate.ts';

export interface MemoryPlan {
  readonly settings: MemorySettings;
  readonly estimate: MemoryEstimate;
}

/** Precisions that need less and less memory. */
const precisions = ['f32', 'int8', 'f32-feeds'] as const;
const saveLists = ['all', 'matmul', 'none'] as const;

/**
 * Settings that fit a number of bytes: those of the config, or the first that do where each gives way
 * in turn, the cheapest to miss first: passes that are kept, texts and tokens at once, values that
 * are saved, and last the precision of rollouts.
 */
export function planMemory(
  architecture: Architecture,
  options: MemoryOptions & { readonly limit: number },
): MemoryPlan {
  const estimator = new MemoryEstimator(architecture, options);
  let smallest = Infinity;
  for (const settings of settingsInOrder(estimator, options)) {
    const estimate = estimator.estimate(settings);
    if (estimate.peak <= options.limit) return { settings, estimate };
    smallest = Math.min(smallest, estimate.peak);
  }
  throw new RangeError(
    `Cannot fit the run into memory: memory must be at least ${gigabytes(smallest)}, got ${gigabytes(options.limit)}; give more, take a smaller model, shorter prompts or fewer maxNewTokens`,
  );
}

function* settingsInOrder(
  estimator: MemoryEstimator,
  { config }: MemoryOptions,
): Generator<MemorySettings> {
  const { microBatchSize } = config;
  const passes = config.keepPasses === false ? [false] : [true, false];
  for (const rolloutPrecision of from(precisions, config.rolloutPrecision)) {
    for (const saveActivations of from(saveLists, config.saveActivations)) {
      for (const maxTokensAtOnce of halvings(config.maxTokensAtOnce, estimator.longest)) {
        for (const rolloutBatchSize of halvings(estimator.slotsOf(config), 1)) {
          for (const keepPasses of passes) {
            yield {
              ...{ rolloutPrecision, saveActivations, maxTokensAtOnce },
              ...{ rolloutBatchSize, keepPasses, microBatchSize },
            };
          }
        }
      }
    }
  }
}

function from<T>(list: readonly T[], first: T): readonly T[] {
  return list.slice(list.indexOf(first));
}

/** A number, its half and so on, not below another.
 *  @example 1024 to 300  →  1024, 512, 300 */
function halvings(most: number, least: number): number[] {
  const all = [most];
  while (all.at(-1)! > least) all.push(Math.max(least, Math.floor(all.at(-1)! / 2)));
  return all;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
