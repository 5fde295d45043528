import { loadPreferences } from '../data/index.ts';
import { embeddedPreferences } from '../embedded/embedded-files.ts';
import { makeSplitPost } from '../embedded/world/index.ts';
import type { TrainEvent } from '../loop/events.ts';
import type { LoadedModel } from '../models/index.ts';
import { PolicyModel } from '../models/index.ts';
import { lengthBaseline, toTexts } from '../run/reward-run.ts';
import { RewardTrainer } from '../stages/index.ts';

export interface DemoRewardOptions {
  readonly seed: number;
  /** Folder to save the reward model in. */
  readonly folder: string;
  readonly maxNewTokens: number;
  readonly short: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent: (event: TrainEvent) => void | Promise<void>;
}

/** How well the reward model predicts held-out preferences. */
export interface DemoReward {
  readonly pairs: number;
  readonly heldOut: number;
  readonly accuracy: number;
  /** Accuracy of always choosing the shorter text, or the longer one if that wins more training pairs. */
  readonly lengthAccuracy: number;
}

const REFERENCE_POSTS = 64;

/** Trains a reward model on the embedded preferences and normalises its scores on samples of the model. */
export async function trainDemoReward(
  model: LoadedModel,
  { seed, folder, maxNewTokens, short, signal, onEvent }: DemoRewardOptions,
): Promise<DemoReward> {
  const { tokenizer } = model;
  const { train, validation } = await loadPreferences(embeddedPreferences, tokenizer, {
    validationFraction: 0.15,
    seed,
  });
  const learned = toTexts(train).pairs;
  const heldOut = toTexts(validation).pairs.slice(0, short ? 16 : undefined);
  const trainer = new RewardTrainer(
    { ...rewardConfig(seed), ...(short && { maxSteps: 2, batchSize: 4 }) },
    { model },
  );
  const { evaluation: numbers } = await trainer.train(learned, {
    validation: heldOut,
    signal,
    onEvent,
  });
  await trainer.normalize(
    await sampleTexts(model, { seed, maxNewTokens, count: short ? 8 : REFERENCE_POSTS }),
  );
  await trainer.saveModel(folder);
  return {
    pairs: learned.length,
    heldOut: heldOut.length,
    accuracy: numbers!['eval/accuracy']!,
    lengthAccuracy: lengthBaseline(learned, heldOut)!.accuracy,
  };
}

function rewardConfig(seed: number) {
  return {
    seed,
    numEpochs: 1,
    batchSize: 32,
    learningRate: 5e-3,
    warmupSteps: 5,
    loraTargets: ['all-linear'],
    loraDropout: 0,
    evalInterval: 0,
    maxTokensAtOnce: 4096,
  };
}

/** Posts with summaries that the model itself generates. */
async function sampleTexts(
  { base, tokenizer }: LoadedModel,
  { seed, maxNewTokens, count }: { seed: number; maxNewTokens: number; count: number },
): Promise<Int32Array[]> {
  const policy = new PolicyModel({ base, tokenizer, batchSize: 32 });
  const posts = Array.from({ length: count }, (_, number) =>
    makeSplitPost('ppo', { seed, number }),
  );
  const texts = await policy.generate(
    posts.map(({ text }) => text),
    { maxNewTokens, seed, streamKey: ['normalization'] },
  );
  await policy.dispose();
  return texts.map(({ promptTokens, tokens }) => Int32Array.of(...promptTokens, ...tokens));
}
