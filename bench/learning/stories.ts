import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { Metrics } from '../../src/loop/index.ts';
import { loadModel, type PolicyModel, type SFTModel } from '../../src/models/index.ts';
import { PPOTrainer } from '../../src/ppo-trainer/index.ts';
import { rewards } from '../../src/reward-kl/index.ts';

/** Quality of one model's stories on held-out prompts. */
interface Stories {
  /** Mean sentiment, −1 … 1. */
  readonly reward: number;
  /** exp(mean −log π_ref(token)): how unlikely the pretrained model finds the stories. */
  readonly perplexity: number;
  readonly texts: readonly string[];
}

export const openings = [
  'Once upon a time, there was a',
  'One day, a little girl',
  'One day, a boy named',
  'The old dog',
  'In a small house, there lived',
  'Mom and Dad',
  'The sun was',
  'Two friends went',
  'A bird sat',
  'Every morning,',
  'Tim had a',
  'Lily wanted',
  'The big tree',
  'It was a cold day',
  'A cat and a mouse',
  'Grandma made',
];
const heldOut = [
  'Once there was a bear',
  'Sara and Ben',
  'The little boat',
  'One night, a rabbit',
  'Dad took',
  'The new toy',
  'A fish in',
  'The farmer had',
];

const MAX_NEW_TOKENS = 32;
const SAMPLES = 32;

interface StoryOptions {
  readonly steps: number;
  readonly seed?: number;
  /** Settings that differ from the usual ones. */
  readonly config?: PPOConfigOptions;
}

interface StoryResult {
  readonly before: Stories;
  readonly after: Stories;
  /** Of each step. */
  readonly metrics: readonly Metrics[];
}

/** Trains a story model towards happy words, and measures it before and after. */
export async function learnStories(
  folder: string,
  { steps, seed = 0, config = {} }: StoryOptions,
): Promise<StoryResult> {
  const model = await loadModel(folder, { basePrecision: config.basePrecision });
  const sentiment = rewards.sentiment();
  const trainer = new PPOTrainer(
    {
      seed,
      maxNewTokens: MAX_NEW_TOKENS,
      batchSize: 16,
      rolloutBatchSize: 16,
      ppoEpochs: 2,
      learningRate: 3e-4,
      valueLearningRate: 1e-3,
      klCoef: 0.05,
      gamma: 1,
      ...config,
    },
    { model, rewards: sentiment },
  );
  const { policy, reference } = await trainer.components();
  const before = await measure(policy, reference, seed);
  const metrics: Metrics[] = [];
  await trainer.train(openings, {
    maxSteps: steps,
    numEpochs: steps,
    callbacks: [{ onStepEnd: (_, of) => void metrics.push(of) }],
  });
  const after = await measure(policy, reference, seed);
  await trainer.dispose();
  await model.base.dispose();
  return { before, after, metrics };
}

async function measure(policy: PolicyModel, reference: SFTModel, seed: number): Promise<Stories> {
  const sentiment = rewards.sentiment();
  const texts = await policy.generate(heldOut, {
    maxNewTokens: MAX_NEW_TOKENS,
    numReturnSequences: SAMPLES,
    seed,
    streamKey: ['held out'],
  });
  const { logprobs } = await reference.logprobs(
    texts.map(({ promptTokens }) => promptTokens),
    texts.map(({ tokens }) => tokens),
  );
  const all = logprobs.flatMap((part) => [...part]);
  const scores = texts.map(({ text, promptTokens, tokens, prompt, sample }) =>
    sentiment({
      prompt: heldOut[prompt]!,
      response: text,
      promptTokens,
      tokens,
      finished: true,
      promptIdx: prompt,
      sample,
    }),
  );
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  return {
    reward: mean(scores),
    perplexity: Math.exp(-mean(all)),
    texts: texts
      .filter(({ sample }) => sample === 0)
      .map(({ prompt, text }) => `${heldOut[prompt]}${text}`),
  };
}
