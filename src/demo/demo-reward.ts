import { embeddedFolder, embeddedPreferences } from '../embedded/embedded-files.ts';
import { rewardRun } from '../run/reward-run.ts';
import type { RunOptions } from '../run/run-training.ts';

export interface DemoRewardOptions extends RunOptions {
  readonly seed: number;
  /** Folder of the run. */
  readonly output: string;
  readonly short: boolean;
  /** Layers that get an adapter; all by default. */
  readonly loraLayers?: number;
}

/** How well the reward model predicts held-out preferences. */
export interface DemoReward {
  readonly pairs: number;
  readonly heldOut: number;
  readonly accuracy: number;
  /** Accuracy of always choosing the shorter text, or the longer one if that wins more training pairs. */
  readonly lengthAccuracy: number;
  /** Folder of the reward model. */
  readonly model: string;
}

/** Trains a reward model on the embedded preferences; undefined if it was interrupted. */
export async function trainDemoReward({
  seed,
  output,
  short,
  loraLayers,
  ...options
}: DemoRewardOptions): Promise<DemoReward | undefined> {
  const { items, evaluations, lengthBaseline, modelFolder } = await rewardRun(
    {
      modelName: embeddedFolder,
      data: embeddedPreferences,
      output,
      seed,
      validationFraction: short ? 0.005 : 0.1,
      numEpochs: 1,
      batchSize: short ? 4 : 32,
      ...(short && { maxSteps: 2 }),
      learningRate: 5e-3,
      warmupSteps: 5,
      loraTargets: ['all-linear'],
      loraDropout: 0,
      loraLayers,
      evalInterval: 0,
      maxTokensAtOnce: 4096,
    },
    options,
  );
  if (modelFolder === undefined) return undefined;
  return {
    pairs: items.train,
    heldOut: items.validation,
    accuracy: evaluations!.last.metrics['eval/accuracy']!,
    lengthAccuracy: lengthBaseline!.accuracy,
    model: modelFolder,
  };
}
