import {
  makeDemonstration,
  makeSplitPost,
  type Split,
  type SummaryMix,
} from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import type { TrainEvent } from '../../src/loop/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { SFTTrainer } from '../../src/stages/index.ts';
import type { LearnedText } from '../../src/training/index.ts';

export interface LanguageOptions {
  readonly seed: number;
  /** Optimiser steps of 64 texts. */
  readonly steps: number;
}

const BATCH = 64;
/** Posts before this one are for the language. */
const FACTS_FROM = 100_000;

/** Teaches a fresh model the language: every token of posts with a good summary each. */
export async function pretrain(
  model: LoadedModel,
  { seed, steps }: LanguageOptions,
): Promise<void> {
  const texts = { split: 'pretraining', mix: { good: 1 } } as const;
  await train(model, texts, { seed, steps, learningRate: 3e-3, warmupSteps: 40, name: 'language' });
}

/** Teaches it to find the facts of a post: good summaries, their tokens alone. */
export async function learnFacts(
  model: LoadedModel,
  { seed, steps }: LanguageOptions,
): Promise<void> {
  const texts = {
    split: 'pretraining',
    first: FACTS_FROM,
    mix: { good: 1 },
    completionsOnly: true,
  } as const;
  await train(model, texts, { seed, steps, learningRate: 3e-3, warmupSteps: 40, name: 'facts' });
}

/** Teaches it to write summaries as mediocre as the demonstrations: their tokens alone. */
export async function fineTune(
  model: LoadedModel,
  { seed, steps }: LanguageOptions,
): Promise<void> {
  const texts = { split: 'sft', completionsOnly: true } as const;
  await train(model, texts, { seed, steps, learningRate: 1e-3, warmupSteps: 10, name: 'SFT' });
}

/** Which posts to learn from, and what to learn of them. */
interface TextOptions {
  readonly split: Split;
  /** Number of the first post; 0 by default. */
  readonly first?: number;
  /** How often each kind of summary comes; that of the demonstrations by default. */
  readonly mix?: SummaryMix;
  readonly completionsOnly?: boolean;
}

interface ReadOptions extends TextOptions {
  readonly seed: number;
  readonly count: number;
}

function readTexts({ tokenizer }: LoadedModel, options: ReadOptions): LearnedText[] {
  const { split, seed, first: from = 0, count, mix, completionsOnly = false } = options;
  return Array.from({ length: count }, (_, i) => {
    const number = from + i;
    const post = makeSplitPost(split, { seed, number });
    const random = randomStream(seed, 'demonstration', split, number);
    const prompt = tokenizer.encode(post.text);
    const summary = tokenizer.encode(
      ` ${makeDemonstration(post, { random, ...(mix && { mix }) })}`,
    );
    const tokens = Int32Array.of(...prompt, ...summary, tokenizer.eosIds[0]!);
    const first = completionsOnly ? prompt.length : 1;
    return {
      tokens,
      learned: Int32Array.from({ length: tokens.length - first }, (_, t) => first + t),
    };
  });
}

interface TrainOptions extends LanguageOptions {
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly name: string;
}

async function train(
  model: LoadedModel,
  texts: TextOptions,
  { seed, steps, learningRate, warmupSteps, name }: TrainOptions,
): Promise<void> {
  const count = steps * BATCH;
  const first = texts.first ?? 0;
  const learned = readTexts(model, { ...texts, seed, first, count });
  const heldOut = readTexts(model, { ...texts, seed, first: first + count, count: 4 * BATCH });
  const trainer = new SFTTrainer(
    {
      fullParameters: true,
      learningRate,
      warmupSteps,
      batchSize: BATCH,
      maxSteps: steps,
      weightDecay: 0.01,
      maxTokensAtOnce: 3400,
      evalInterval: 0,
      seed,
    },
    { model },
  );
  const started = performance.now();
  const onEvent = (event: TrainEvent) => {
    if (event.type !== 'step' || event.step % 20 !== 0) return;
    const minutes = (performance.now() - started) / 60_000;
    const loss = event.metrics['train/loss']!.toFixed(3);
    console.log(`${name} ${event.step}/${steps}  loss ${loss}  ${minutes.toFixed(1)} min`);
  };
  await trainer.train(learned, { onEvent });
  const { loss, perplexity } = await trainer.evaluate(heldOut);
  console.log(`${name}: held-out loss ${loss.toFixed(3)}, perplexity ${perplexity.toFixed(2)}`);
}
