import type { StepContext } from './collect-experience.ts';
import type { Components } from './components.ts';
import type { Metrics } from './records.ts';
import { averageMetrics } from './step-metrics.ts';

/** Optimiser steps of one PPO step. */
export function optimizerSteps(
  { ppoEpochs, miniBatchSize }: Components['config'],
  responses: number,
): number {
  return ppoEpochs * Math.ceil(responses / (miniBatchSize ?? responses));
}

/** Steps 10 and 11 of the documents: PPO epochs over the buffer, in minibatches. An update that
 *  throws leaves the models as they were before it. */
export async function updateModels(components: Components, context: StepContext): Promise<Metrics> {
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
): Promise<Metrics> {
  const { klCoef } = rewardComputer;
  const size = config.miniBatchSize ?? buffer.size;
  const total = optimizerSteps(config, buffer.size);
  const lr = modelTrainer.policyOptimizer.learningRate;
  const done: Metrics[] = [];
  let stopped = false;
  onProgress?.('update', 0, total);
  for (let ppoEpoch = 0; ppoEpoch < config.ppoEpochs && !stopped; ppoEpoch++) {
    for (const batch of buffer.miniBatches(size, { step, ppoEpoch })) {
      const result = await modelTrainer.trainStep(batch, { klCoef });
      done.push(result.metrics);
      onProgress?.('update', done.length, total);
      stopped = result.stopped;
      if (stopped) break;
    }
  }
  return {
    ...averageMetrics(done),
    lr,
    'policy/early_stop': Number(stopped),
    'policy/optimizer_steps': done.length - Number(stopped),
  };
}
