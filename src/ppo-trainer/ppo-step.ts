import type { PromptRecord } from '../data/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import { collectExperience, type StepContext } from './collect-experience.ts';
import type { Components } from './components.ts';
import type { Metrics, SampleRecord } from './records.ts';
import { shortNames } from './step-metrics.ts';
import { updateModels } from './update-models.ts';

export interface PPOStepResult {
  readonly metrics: Metrics;
  readonly experience: Experience;
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
    const updated = await updateModels(components, context);
    const updateTime = (performance.now() - start) / 1000;
    const metrics = {
      ...updated,
      ...collected.metrics,
      'timing/generate': generateTime,
      'timing/score': scoreTime,
      'timing/update': updateTime,
      'perf/tokens_per_second': experience.tokens.length / (generateTime + scoreTime + updateTime),
    };
    return { metrics: { ...metrics, ...shortNames(metrics) }, experience };
  } catch (error) {
    rewardComputer.restore(before);
    throw error;
  } finally {
    buffer.clear();
  }
}

/** The first responses of a step, as they are written down.
 *  @param places index of each of the step's prompts among all prompts */
export function sampleRecords(
  { sequences, offsets, scores, kl }: Experience,
  { step, places, count }: { step: number; places: ArrayLike<number>; count: number },
): SampleRecord[] {
  return sequences.slice(0, count).map((sequence, i) => ({
    step,
    promptIdx: places[sequence.promptIdx]!,
    sample: sequence.sample,
    prompt: sequence.promptText,
    response: sequence.text,
    score: scores[i]!,
    kl: kl.subarray(offsets[i]!, offsets[i + 1]!).reduce((sum, x) => sum + x, 0),
    length: offsets[i + 1]! - offsets[i]!,
    finished: sequence.finished,
  }));
}
