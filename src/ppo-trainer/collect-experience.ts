import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { PromptRecord } from '../data/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { GeneratedText } from '../generation/index.ts';
import type { Phase } from '../loop/events.ts';
import type { Metrics } from '../loop/records.ts';
import type { Whitening } from '../reward-kl/index.ts';
import type { Components } from './components.ts';
import { rewardSamples } from './reward-samples.ts';
import { rolloutMetrics } from './step-metrics.ts';

export interface StepContext {
  readonly step: number;
  readonly signal?: AbortSignal | undefined;
  /** What is written down of the step; without it, nothing of its tokens is kept for that. */
  readonly log?: Pick<TrainingConfig, 'logSamples' | 'logTokens' | 'topLogprobs'> | undefined;
  /** Told of progress in a phase. */
  readonly onProgress?: ((phase: Phase, done: number, total: number) => void) | undefined;
}

export interface Collected {
  readonly experience: Experience;
  readonly made: RolloutDetails;
  readonly metrics: Metrics;
  /** Seconds. */
  readonly generateTime: number;
  readonly scoreTime: number;
}

/** How an experience was made. */
export interface RolloutDetails {
  /** The responses as they were generated, in the experience's order. */
  readonly texts: readonly GeneratedText[];
  /** r_t that advantages are made of: whitened if the config says so, [S]. */
  readonly rewards: Float32Array;
  /** What was taken off the advantages, where they were whitened. */
  readonly whitening: Whitening | undefined;
  /** β of the rewards. */
  readonly klCoef: number;
}

/** Steps 1 to 9 of the documents: texts, pairs, KL, scores, rewards, values, advantages, returns. */
export async function collectExperience(
  components: Components,
  prompts: readonly PromptRecord[],
  context: StepContext,
): Promise<Collected> {
  const { attributor, rewardComputer, valueAdder, advantageComputer } = components;
  const start = performance.now();
  const texts = await generateTexts(components, prompts, context);
  const generated = performance.now();
  context.onProgress?.('score', 0, texts.length);
  const rollout = await attributor.attribute(
    texts,
    prompts.map(({ text }) => text),
  );
  const samples = rewardSamples(rollout, prompts);
  const { scores, rewards, stepOffsets, metrics } = await rewardComputer.computeRewards(rollout, {
    samples,
    signal: context.signal,
  });
  const values = await valueAdder.addValues(rollout, stepOffsets);
  const priced = { ...rollout, stepOffsets, scores, rewards, values };
  const computed = advantageComputer.computeAdvantages(priced);
  const { whitening, whitenedRewards = rewards, ...advantages } = computed;
  const experience = { ...priced, ...advantages };
  context.onProgress?.('score', texts.length, texts.length);
  return {
    experience,
    made: { texts, rewards: whitenedRewards, whitening, klCoef: rewardComputer.klCoef },
    metrics: { ...metrics, ...rolloutMetrics(experience) },
    generateTime: (generated - start) / 1000,
    scoreTime: (performance.now() - generated) / 1000,
  };
}

/** Responses of the current policy; the random streams are those of the step. */
async function generateTexts(
  { policy, config, modelTrainer }: Components,
  prompts: readonly PromptRecord[],
  { step, signal, onProgress, log }: StepContext,
): Promise<GeneratedText[]> {
  const texts: GeneratedText[] = [];
  const total = prompts.length * config.samplesPerPrompt;
  onProgress?.('generate', 0, total);
  const tokens = prompts.map((prompt) => prompt.tokens);
  const stream = policy.generator.stream(tokens, {
    ...generationOptions(config),
    runPrompts: modelTrainer.promptRunner(tokens),
    seed: config.seed,
    streamKey: [step],
    ...(signal && { signal }),
    ...(log && {
      topLogprobs: log.topLogprobs,
      topLogprobsTexts: Math.min(log.logTokens, log.logSamples),
    }),
  });
  for await (const { finished } of stream) {
    if (finished === undefined) continue;
    texts.push(finished);
    onProgress?.('generate', texts.length, total);
  }
  return texts.sort((a, b) => a.prompt - b.prompt || a.sample - b.sample);
}

function generationOptions(config: PPOConfig) {
  const { maxNewTokens, temperature, topK, topP, minP, stop, samplesPerPrompt } = config;
  return {
    maxNewTokens,
    temperature,
    topP,
    minP,
    stopStrings: stop,
    numReturnSequences: samplesPerPrompt,
    ...(topK !== undefined && { topK }),
  };
}
