import { loadPreferences } from '../../data/index.ts';
import { embeddedPreferences } from '../../embedded/embedded-files.ts';
import { makeSplitPost } from '../../embedded/world/index.ts';
import type { TrainEvent } from '../../loop/events.ts';
import type { LoadedModel } from '../../models/index.ts';
import { PolicyModel } from '../../models/index.ts';
import { RewardTrainer } from '../../stages/index.ts';
import { lengthBaseline, toSide } from '../reward-data.ts';

export interface DemoRewardOptions {
  readonly seed: number;
  /** Where the reward model goes. */
  readonly folder: string;
  readonly maxNewTokens: number;
  readonly short: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent: (event: TrainEvent) => void | Promise<void>;
}

/** How the reward model does on pairs that it has not seen. */
export interface DemoReward {
  readonly pairs: number;
  readonly heldOut: number;
  readonly accuracy: number;
  /** Accuracy of always preferring the shorter, or the longer, whichever the learned pairs prefer. */
  readonly lengthAccuracy: number;
}

const REFERENCE_POSTS = 64;

/** Trains a reward model on the embedded preferences and normalises it on the model's own samples. */
export async function trainDemoReward(
  model: LoadedModel,
  { seed, folder, maxNewTokens, short, signal, onEvent }: DemoRewardOptions,
): Promise<DemoReward> {
  const { tokenizer } = model;
  const { train, validation } = await loadPreferences(embeddedPreferences, tokenizer, {
    validationFraction: 0.15,
    seed,
  });
  const learned = toSide(train).pairs;
  const heldOut = toSide(validation).pairs.slice(0, short ? 16 : undefined);
  const trainer = new RewardTrainer(
    { ...rewardConfig(seed), ...(short && { maxSteps: 2 }) },
    { model },
  );
  const { evaluation: numbers } = await trainer.train(learned, {
    validation: heldOut,
    signal,
    onEvent,
  });
  await trainer.normalize(await sampleTexts(model, { seed, maxNewTokens }));
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

/** Posts with summaries by the model itself. */
async function sampleTexts(
  { base, tokenizer }: LoadedModel,
  { seed, maxNewTokens }: { seed: number; maxNewTokens: number },
): Promise<Int32Array[]> {
  const policy = new PolicyModel({ base, tokenizer, batchSize: 32 });
  const posts = Array.from({ length: REFERENCE_POSTS }, (_, number) =>
    makeSplitPost('ppo', { seed, number }),
  );
  const texts = await policy.generate(
    posts.map(({ text }) => text),
    { maxNewTokens, seed, streamKey: ['normalization'] },
  );
  await policy.dispose();
  return texts.map(({ promptTokens, tokens }) => Int32Array.of(...promptTokens, ...tokens));
}
