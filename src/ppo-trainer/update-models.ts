import type { Experience } from '../experience-buffer/experience.ts';
import type { Metrics } from '../loop/records.ts';
import type { RolloutSequence } from '../token-attribution/rollout.ts';
import type { StepContext } from './collect-experience.ts';
import type { Components } from './components.ts';
import { averageMetrics } from './step-metrics.ts';

/** Optimiser steps of one PPO step. */
export function optimizerSteps(
  { ppoEpochs, miniBatchSize }: Components['config'],
  responses: number,
): number {
  return ppoEpochs * Math.ceil(responses / (miniBatchSize ?? responses));
}

/** ρ_t of each sequence's tokens when the policy's loss last saw them. */
export type LastRatios = ReadonlyMap<RolloutSequence, Float32Array>;

interface Updated {
  readonly metrics: Metrics;
  readonly ratios: LastRatios;
}

/** Steps 10 and 11 of the documents: PPO epochs over the buffer, in minibatches. An update that
 *  throws leaves the models as they were before it. */
export async function updateModels(components: Components, context: StepContext): Promise<Updated> {
  const restore = components.modelTrainer.snapshot();
  try {
    return await runEpochs(components, context);
  } catch (error) {
    restore();
    throw error;
  }
}

async function runEpochs(
  { buffer, modelTrainer, rewardComputer, config }: Components,
  { step, onProgress }: StepContext,
): Promise<Updated> {
  const { klCoef } = rewardComputer;
  const size = config.miniBatchSize ?? buffer.size;
  const total = optimizerSteps(config, buffer.size);
  const lr = modelTrainer.policyOptimizer.learningRate;
  const done: Metrics[] = [];
  const ratios = new Map<RolloutSequence, Float32Array>();
  let stopped = false;
  onProgress?.('update', 0, total);
  for (let ppoEpoch = 0; ppoEpoch < config.ppoEpochs && !stopped; ppoEpoch++) {
    for (const batch of buffer.miniBatches(size, { step, ppoEpoch })) {
      const result = await modelTrainer.trainStep(batch, { klCoef });
      done.push(result.metrics);
      keepRatios(ratios, batch, result.ratios);
      onProgress?.('update', done.length, total);
      stopped = result.stopped;
      if (stopped) break;
    }
  }
  const metrics = {
    ...averageMetrics(done),
    lr,
    'policy/early_stop': Number(stopped),
    'policy/optimizer_steps': done.length - Number(stopped),
  };
  return { metrics, ratios };
}

/** Takes down the latest ratios of a minibatch's sequences. */
function keepRatios(
  ratios: Map<RolloutSequence, Float32Array>,
  { sequences, offsets }: Experience,
  latest: Float32Array,
): void {
  for (const [i, sequence] of sequences.entries()) {
    ratios.set(sequence, latest.subarray(offsets[i]!, offsets[i + 1]!));
  }
}
