import { concatInts, offsetsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import type { PromptRecord } from '../data/index.ts';
import { memoryMetrics } from '../engine/runtime/index.ts';
import type { Episode } from '../environments/index.ts';
import { type Experience, ExperienceBuffer } from '../experience-buffer/index.ts';
import type { GeneratedText, TurnResponder } from '../generation/index.ts';
import type { Metrics, Phase } from '../loop/index.ts';
import { Trunk } from '../models/decoder/trunk.ts';
import type { TrunkOptions } from '../models/index.ts';
import { type Responses, selectResponses } from '../models/responses.ts';
import type { Whitening } from '../reward-kl/index.ts';
import { toRewardSamples } from '../reward-kl/reward-source.ts';
import type { Rollout, RolloutSequence } from '../token-attribution/index.ts';
import {
  inOrder,
  type JobContext,
  placeColumns,
  type ScoreJob,
  StepCache,
  StepPlan,
} from '../training/index.ts';
import { reusesPrompts, type SequenceKey } from '../training/micro-batches.ts';
import type { PPOComponents } from './components.ts';
import type { RolledOut } from './episode-context.ts';
import { averageMetrics, rolloutMetrics, shortNames } from './step-metrics.ts';

/** What a PPO step receives besides its prompts. */
export interface StepContext {
  /** Number of completed steps. It keys the random streams. */
  readonly step: number;
  readonly signal?: AbortSignal | undefined;
  /** What the step's records need; nothing is collected for them without it. */
  readonly log?: Pick<TrainingConfig, 'logSamples' | 'logTokens' | 'topLogprobs'> | undefined;
  /** Reports how much of a phase of the step is done. */
  readonly onProgress?: ((phase: Phase, done: number, total: number) => void) | undefined;
}

/** Details of a step's responses that are not part of its experience. */
export interface StepDetails {
  /** The responses as generated, in the experience's order. */
  readonly texts: readonly GeneratedText[];
  /** Their conversations, if there is an environment. */
  readonly episodes?: readonly Episode[] | undefined;
  /** r_t as used for the advantages: whitened if the config says so, [S]. */
  readonly rewards: Float32Array;
  /** Mean and standard deviation that whitened the advantages. */
  readonly whitening: Whitening | undefined;
  /** β of the rewards. */
  readonly klCoef: number;
  /** Scores per reward source, unweighted, [B]; missing if the reward computation has none. */
  readonly bySource: ReadonlyMap<string, Float32Array> | undefined;
  /** ρ_t of each response when the loss last saw it; missing for responses it never saw. */
  readonly ratios: ReadonlyMap<RolloutSequence, Float32Array>;
}

/** What one PPO step produced: metrics, experience and details for the records. */
export interface PPOStepResult {
  readonly metrics: Metrics;
  readonly experience: Experience;
  readonly details: StepDetails;
}

/**
 * One PPO step: responses to some prompts, their rewards and advantages, and the updates. If it
 * throws, models, rewards and buffer are unchanged.
 */
export async function ppoStep(
  components: PPOComponents,
  prompts: readonly PromptRecord[],
  context: StepContext,
): Promise<PPOStepResult> {
  const { attributor, rewardComputer, valueAdder, advantageComputer, buffer, jobs } = components;
  const { step, signal } = context;
  const undo = undoOf(components);
  const clock = new Stopwatch();
  // What later phases reuse from earlier ones, until the first optimiser step changes the weights.
  const cache = new StepCache();
  // States of the layers below all adapters, which no optimiser step changes.
  const trunk = trunkOf(components);
  try {
    // 1. Generate responses.
    const { texts, episodes } = await rollOut(components, prompts, { ...context, cache, trunk });
    clock.lap('generate');

    // 2, 3. (State, action) pairs with log π_old, log π_ref and KL_t.
    context.onProgress?.('score', 0, texts.length);
    const responses = responsesOf(texts);
    const plan = new StepPlan(responses, planConfig(components));
    const scoring = { plan, cache: plan.reusesPasses ? cache : undefined, trunk, step, signal };
    const passes = logprobPasses(components, responses, scoring);
    const rollout = await attributor.attribute(texts, prompts.map(promptText), passes);

    // 4, 5. Scores of responses, rewards of tokens.
    const samples = toRewardSamples(rollout, prompts, { episodes });
    const runs = { trunk, scoreTexts: jobs.scoreTexts?.(step) };
    const scored = await rewardComputer.computeRewards(rollout, { samples, signal, ...runs });
    const { scores, rewards, stepOffsets } = scored;

    // 6. Values of states.
    const values = await valueAdder.addValues(rollout, stepOffsets, () =>
      valuesOf(components, { rollout, stepOffsets, ...scoring }),
    );

    // 7, 8, 9. TD errors, advantages, returns.
    const columns = { ...rollout, stepOffsets, scores, rewards, values };
    const computed = advantageComputer.computeAdvantages(columns);
    const { whitening, whitenedRewards = rewards, ...advantages } = computed;
    const experience = { ...columns, ...advantages };
    context.onProgress?.('score', texts.length, texts.length);
    clock.lap('score');

    // 10, 11. Update policy and value model.
    buffer.store(experience);
    const { klCoef } = rewardComputer;
    const update = await updateModels(components, { plan, cache, trunk, klCoef, ...context });
    buffer.endStep();
    clock.lap('update');

    const metrics = {
      ...update.metrics,
      ...scored.metrics,
      ...rolloutMetrics(experience, { hasValues: components.value !== undefined, episodes }),
      ...clock.metrics(experience.tokens.length),
    };
    const details = { texts, episodes, rewards: whitenedRewards, whitening, klCoef };
    return {
      metrics: { ...metrics, ...shortNames(metrics) },
      experience,
      details: { ...details, bySource: scored.bySource, ratios: update.ratios },
    };
  } catch (error) {
    undo();
    throw error;
  } finally {
    for (const memory of [cache, trunk]) memory?.free();
  }
}

const promptText = ({ text }: PromptRecord) => text;

/** The config with the number of tokens whose passes fit into memory. */
function planConfig({ config, maxCachedTokens }: PPOComponents): PPOConfig {
  return { ...config, maxCachedTokens };
}

/** Generates the step's responses, shard by shard. */
async function rollOut(
  components: PPOComponents,
  prompts: readonly PromptRecord[],
  {
    step,
    signal,
    onProgress,
    log,
    cache,
    trunk,
  }: StepContext & TrunkOptions & { readonly cache: StepCache },
): Promise<RolledOut> {
  const { config, jobs, episodes } = components;
  const total = prompts.length * config.samplesPerPrompt;
  const size = config.rolloutShardSize ?? prompts.length;
  const texts: GeneratedText[] = [];
  const tokens = prompts.map((prompt) => prompt.tokens);
  const reuse = {
    cache: reusesPrompts(tokens, planConfig(components)) ? cache : undefined,
    trunk: config.keepPasses === false ? undefined : trunk,
  };
  let done = 0;
  const onText = () => onProgress?.('generate', ++done, total);
  onProgress?.('generate', 0, total);
  const run = (firstPrompt: number, environment?: TurnResponder) => {
    const shard = tokens.slice(firstPrompt, firstPrompt + size);
    const generation = {
      ...generationOptions(config),
      ...{ firstPrompt, seed: config.seed, streamKey: [step] },
      ...(environment && { environment }),
      ...(log && {
        topLogprobs: log.topLogprobs,
        topLogprobsTexts: Math.min(log.logTokens, log.logSamples),
      }),
    };
    return jobs.rollOut({ prompts: shard, generation }, { ...reuse, step, signal, onText });
  };
  const count = Math.ceil(prompts.length / size);
  const shards = Array.from({ length: count }, (_, shard) => shard * size);
  const runAll = async (environment?: TurnResponder) => {
    const parts = inOrder(jobs, shards, (firstPrompt) => run(firstPrompt, environment));
    for await (const part of parts) texts.push(...part);
    return texts;
  };
  return episodes?.run(prompts, ['train', step], runAll) ?? { texts: await runAll() };
}

/** The layers that the models of a step share. */
function trunkOf({ model, policy, value, rewardComputer }: PPOComponents): Trunk | undefined {
  return Trunk.of(model.base, [policy, ...(value ? [value] : []), ...(rewardComputer.roles ?? [])]);
}

interface ScoringOptions extends JobContext {
  readonly plan: StepPlan;
  /** Set if the update reuses the passes. */
  readonly cache: StepCache | undefined;
}

/** log π_old and log π_ref of the texts, one micro-batch at a time. */
function logprobPasses(
  { jobs }: PPOComponents,
  responses: Responses<SequenceKey>,
  { plan, ...context }: ScoringOptions,
) {
  const run = async (score: (job: ScoreJob) => ReturnType<typeof jobs.refLogprobs>) => {
    const logprobs = new Float32Array(responses.tokens.length);
    const entropies = new Float32Array(responses.tokens.length);
    const parts = inOrder(jobs, plan.microBatches, (indices, microBatch) =>
      score({ microBatch, responses: selectResponses(responses, indices) }),
    );
    let done = 0;
    for await (const part of parts) {
      const indices = plan.microBatches[done++]!;
      const { offsets } = responses;
      placeColumns(logprobs, { offsets, indices, values: part.logprobs });
      placeColumns(entropies, { offsets, indices, values: part.entropies });
    }
    return { logprobs, entropies };
  };
  return {
    policy: () => run((job) => jobs.policyLogprobs(job, context)),
    reference: () => run((job) => jobs.refLogprobs(job, context)),
  };
}

/** V_old of all states, one micro-batch at a time. */
async function valuesOf(
  { jobs }: PPOComponents,
  options: ScoringOptions & { readonly rollout: Rollout; readonly stepOffsets: Int32Array },
): Promise<Float32Array> {
  const { rollout, stepOffsets, plan, ...context } = options;
  const values = new Float32Array(stepOffsets.at(-1)!);
  const run = (indices: readonly number[], microBatch: number) => {
    const responses = selectResponses(rollout, indices);
    const stateCounts = indices.map((i) => stepOffsets[i + 1]! - stepOffsets[i]!);
    return jobs.values({ microBatch, responses, stateCounts }, context);
  };
  let done = 0;
  for await (const part of inOrder(jobs, plan.microBatches, run)) {
    const indices = plan.microBatches[done++]!;
    placeColumns(values, { offsets: stepOffsets, indices, values: part });
  }
  return values;
}

interface UpdateOptions extends StepContext, TrunkOptions {
  readonly plan: StepPlan;
  readonly cache: StepCache;
  readonly klCoef: number;
}

/** PPO epochs over the buffer, in minibatches: each is one optimiser step of both models. */
async function updateModels(
  { buffer, modelTrainer, config }: PPOComponents,
  { step, signal, plan, cache, trunk, klCoef, onProgress }: UpdateOptions,
) {
  const size = config.miniBatchSize ?? buffer.size;
  const total = config.ppoEpochs * Math.ceil(buffer.size / size);
  const lr = modelTrainer.policyOptimizer.learningRate;
  const steps: Metrics[] = [];
  const ratios = new Map<RolloutSequence, Float32Array>();
  let stopped = false;
  onProgress?.('update', 0, total);
  for (let ppoEpoch = 0; ppoEpoch < config.ppoEpochs && !stopped; ppoEpoch++) {
    for (const batch of buffer.miniBatches(size, { step, ppoEpoch })) {
      const result = await modelTrainer.trainStep(batch, {
        klCoef,
        microBatches: plan.microBatchesOf(batch),
        ...{ cache, trunk, step, signal },
      });
      // The weights have changed.
      cache.free();
      steps.push(result.metrics);
      for (const [i, sequence] of batch.sequences.entries()) {
        const { offsets } = batch;
        ratios.set(sequence, result.ratios.subarray(offsets[i]!, offsets[i + 1]!));
      }
      onProgress?.('update', steps.length, total);
      stopped = result.stopped;
      if (stopped) break;
    }
  }
  const metrics = {
    ...averageMetrics(steps),
    lr,
    'policy/early_stop': Number(stopped),
    'policy/optimizer_steps': steps.length - Number(stopped),
  };
  return { metrics, ratios };
}

/** Optimiser steps of a run of this many PPO steps.
 *  @example 2 epochs over 8 responses in minibatches of 4, 3 steps  →  12 */
export function optimizerSteps(config: PPOConfig, totalSteps: number): number {
  const { ppoEpochs, miniBatchSize } = config;
  let sum = 0;
  for (let step = 0; step < totalSteps; step++) {
    const size = ExperienceBuffer.sizeAt(step, config);
    sum += ppoEpochs * Math.ceil(size / (miniBatchSize ?? size));
  }
  return sum;
}

/** Remembers models, rewards and buffer; the returned function restores them. */
function undoOf({ modelTrainer, rewardComputer, buffer }: PPOComponents): () => void {
  const restoreModels = modelTrainer.snapshot();
  const restoreBuffer = buffer.snapshot();
  const rewards = rewardComputer.state();
  return () => {
    restoreModels();
    restoreBuffer();
    rewardComputer.restore(rewards);
  };
}

function responsesOf(texts: readonly GeneratedText[]): Responses<SequenceKey> {
  return {
    offsets: offsetsOf(texts.map(({ tokens }) => tokens.length)),
    tokens: concatInts(texts.map(({ tokens }) => tokens)),
    sequences: texts.map(({ prompt, sample, promptTokens, observations }) => ({
      promptIdx: prompt,
      sample,
      promptTokens,
      ...(observations && { observations }),
    })),
  };
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

/** Measures the phases of a step in seconds. */
class Stopwatch {
  private readonly seconds: Record<string, number> = {};
  private last = performance.now();

  lap(phase: 'generate' | 'score' | 'update'): void {
    const now = performance.now();
    this.seconds[`timing/${phase}`] = (now - this.last) / 1000;
    this.last = now;
  }

  metrics(tokens: number): Metrics {
    const total = Object.values(this.seconds).reduce((sum, seconds) => sum + seconds, 0);
    return {
      ...this.seconds,
      'perf/tokens_per_second': tokens / total,
      ...memoryMetrics(),
    };
  }
}
