import type { PromptRecord } from '../data/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { Metrics } from '../loop/records.ts';
import { collectExperience, type RolloutDetails, type StepContext } from './collect-experience.ts';
import type { Components } from './components.ts';
import { shortNames } from './step-metrics.ts';
import { type LastRatios, updateModels } from './update-models.ts';

/** What a step knows of its responses besides its experience. */
export interface StepDetails extends RolloutDetails {
  /** Sequences that no optimiser step came to are not in it. */
  readonly ratios: LastRatios;
}

export interface PPOStepResult {
  readonly metrics: Metrics;
  readonly experience: Experience;
  readonly details: StepDetails;
}

/** One step of PPO: experience from some prompts, and the updates that it is worth. A step that
 *  throws has changed nothing. */
export async function ppoStep(
  components: Components,
  prompts: readonly PromptRecord[],
  context: StepContext,
): Promise<PPOStepResult> {
  const { rewardComputer, buffer } = components;
  const before = rewardComputer.state();
  try {
    const collected = await collectExperience(components, prompts, context);
    const { experience, generateTime, scoreTime } = collected;
    buffer.store(experience);
    const start = performance.now();
    const { metrics: updated, ratios } = await updateModels(components, context);
    const updateTime = (performance.now() - start) / 1000;
    const metrics = {
      ...updated,
      ...collected.metrics,
      'timing/generate': generateTime,
      'timing/score': scoreTime,
      'timing/update': updateTime,
      'perf/tokens_per_second': experience.tokens.length / (generateTime + scoreTime + updateTime),
      'perf/rss_mb': process.memoryUsage.rss() / 2 ** 20,
    };
    return {
      metrics: { ...metrics, ...shortNames(metrics) },
      experience,
      details: { ...collected.made, ratios },
    };
  } catch (error) {
    rewardComputer.restore(before);
    throw error;
  } finally {
    buffer.clear();
    components.modelTrainer.forgetPasses();
  }
}
