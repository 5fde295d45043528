import { loadPreferences, type PreferencePair } from '../../data/index.ts';
import { embeddedPreferences } from '../../embedded/embedded-files.ts';
import { makeSplitPost } from '../../embedded/world/index.ts';
import type { LoadedModel } from '../../models/index.ts';
import { PolicyModel } from '../../models/index.ts';
import type { TrainEvent } from '../../ppo-trainer/events.ts';
import { type PreferenceTexts, RewardTrainer } from '../../stages/index.ts';

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
  /** Accuracy of always preferring the shorter, or the longer, whichever is right more often. */
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
  const pairsOf = (groups: typeof train) => groups.flatMap(({ pairs }) => pairs);
  const learned = pairsOf(train);
  const heldOut = pairsOf(validation).slice(0, short ? 16 : undefined);
  const trainer = new RewardTrainer(
    { ...rewardConfig(seed), ...(short && { maxSteps: 2 }) },
    { model },
  );
  const { validation: numbers } = await trainer.train(learned.map(toTexts), {
    validation: heldOut.map(toTexts),
    signal,
    onEvent,
  });
  await trainer.normalize(await sampleTexts(model, { seed, maxNewTokens }));
  await trainer.saveModel(folder);
  return {
    pairs: learned.length,
    heldOut: heldOut.length,
    accuracy: numbers!['eval/accuracy']!,
    lengthAccuracy: lengthAccuracy(heldOut),
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

function toTexts(pair: PreferencePair): PreferenceTexts {
  const { promptTokens, chosenTokens, rejectedTokens, margin, target, weight } = pair;
  const whole = (tokens: Int32Array) => Int32Array.of(...promptTokens, ...tokens);
  return { chosen: whole(chosenTokens), rejected: whole(rejectedTokens), margin, target, weight };
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

function lengthAccuracy(pairs: readonly PreferencePair[]): number {
  const shorter = pairs.map(({ chosenTokens, rejectedTokens }) => {
    const gap = rejectedTokens.length - chosenTokens.length;
    return gap === 0 ? 0.5 : Number(gap > 0);
  });
  const part = shorter.reduce((sum, x) => sum + x, 0) / pairs.length;
  return Math.max(part, 1 - part);
}
