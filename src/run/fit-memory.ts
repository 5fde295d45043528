import { parseRewardSpec } from '../config/reward-spec.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { PromptDataset } from '../data/index.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import {
  type MemoryEstimate,
  MemoryEstimator,
  planMemory,
} from '../ppo-trainer/memory-estimate.ts';

/** What a run takes, and the settings that make it fit. */
export interface FittedConfig<C extends RunConfig> {
  readonly config: C;
  readonly estimate: MemoryEstimate;
}

/** A run's config with the settings that its `memory` allows; without a limit they stay. */
export function fitMemory<C extends RunConfig>(
  config: C,
  { architecture, prompts }: { architecture: Architecture; prompts: PromptDataset },
): FittedConfig<C> {
  const all = [...prompts.train, ...prompts.validation];
  const promptLengths = all.map(({ tokens }) => tokens.length);
  const models = config.reward.filter((spec) => parseRewardSpec(spec).kind === 'model');
  const options = { config, promptLengths, rewardModels: models.length };
  if (config.memory === undefined) {
    return { config, estimate: new MemoryEstimator(architecture, options).estimate(config) };
  }
  const limit = parseBytes(config.memory);
  const { settings, estimate } = planMemory(architecture, { ...options, limit });
  return { config: { ...config, ...settings }, estimate };
}

/** Bytes as people write them.
 *  @example '1.5GB'  →  1_500_000_000 */
function parseBytes(text: string): number {
  const [, number, unit] = /^([\d.]+) ?([kMG])B$/.exec(text)!;
  return Number(number) * { k: 1e3, M: 1e6, G: 1e9 }[unit as 'k' | 'M' | 'G'];
}

/** The settings of a plan and what they are estimated to take, as one sentence. */
export function describeFit({ config, estimate }: FittedConfig<RunConfig>): string {
  const { rolloutPrecision, rolloutBatchSize, maxTokensAtOnce, saveActivations } = config;
  const kept = config.keepPasses ? 'keeps passes for the update' : 'keeps no passes';
  return `Fits ${config.memory} with about ${(estimate.peak / 1e9).toFixed(1)} GB: generates ${rolloutBatchSize} texts at once in ${rolloutPrecision}, trains ${maxTokensAtOnce} tokens at once, saves ${saveActivations}, ${kept}`;
}
