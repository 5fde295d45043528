import { concatFloats, lengthsOf, splitByLengths, splitByOffsets } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { GeneratedText, GenerationOptions } from '../generation/index.ts';
import { runsInOneSession } from '../models/decoder/forward.ts';
import type { PolicyModel, SFTModel, Trunk, TrunkOptions, ValueModel } from '../models/index.ts';
import { packResponses, type Responses, stateRows } from '../models/responses.ts';
import type { ScoreTexts } from '../reward-kl/reward-source.ts';
import type { TokenLogprobs } from '../token-attribution/token-attributor.ts';
import { type SequenceKey, type StepCache, takePass } from './micro-batches.ts';
import { type PolicyLoss, type PolicySums, policyRatio, rolloutWeights } from './policy-loss.ts';
import {
  jointPolicyGradients,
  policyGradients,
  runPolicy,
  runsTokensJointly,
} from './policy-pass.ts';
import {
  jointScalarGradients,
  runScalar,
  scalarGradients,
  valueScoreSlopes,
} from './scalar-pass.ts';
import type { ValueLoss, ValueSums } from './value-loss.ts';

/** Generates the responses to a shard of the step's prompts. */
export interface RolloutJob {
  readonly prompts: readonly Int32Array[];
  /** Sampling, seed and stream key; `firstPrompt` is the number of the shard's first prompt. */
  readonly generation: GenerationOptions;
}

/** Scores the responses of one micro-batch. */
export interface ScoreJob {
  /** Number of the micro-batch in the step's plan. */
  readonly microBatch: number;
  readonly responses: Responses<SequenceKey>;
}

/** Computes the gradients of one micro-batch. */
export interface GradientJob {
  /** Number of the micro-batch in the optimiser step. */
  readonly microBatch: number;
  readonly experience: Experience;
  /** Divisors of the losses: counts over the whole optimiser step, so that micro-batches add up. */
  readonly counts: StepCounts;
  readonly klCoef: number;
}

export interface StepCounts {
  readonly sequenceCount: number;
  /** Number of sampled tokens. */
  readonly tokenCount: number;
  /** Number of values that are learned. */
  readonly stepCount: number;
}

/** Gradients of one micro-batch for both models, with the sums for the metrics. */
export interface GradientResult {
  readonly policy: {
    readonly gradients: NamedArrays;
    readonly sums: PolicySums;
    /** ρ_t = π_new/π_old per token, at either ratio level, [N]. */
    readonly ratios: Float32Array;
  };
  /** Missing without a value model. */
  readonly value?: { readonly gradients: NamedArrays; readonly sums: ValueSums };
}

/** In-process extras of a job, which only change its speed. A cached pass over a prompt runs in a
 *  shorter batch, where ONNX Runtime may sum in a different order, so the last bits may differ. In all
 *  measured runs tokens and weights are equal with and without a cache. */
export interface JobContext extends TrunkOptions {
  /** Number of completed steps. */
  readonly step?: number | undefined;
  /** Passes that other jobs of the step reuse. */
  readonly cache?: StepCache | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each finished text. */
  readonly onText?: (() => void) | undefined;
}

/**
 * The heavy parts of a PPO step, as functions of plain data to plain data. How a step is split into jobs
 * depends on its data and config alone, and results are combined in a fixed order, so the bits do
 * not depend on where the jobs run.
 */
export interface StepJobs {
  /** Whether jobs run in other processes, several at the same time. */
  readonly isRemote?: boolean;
  /** How a step scores with reward models; by default in this process. */
  scoreTexts?(step: number): ScoreTexts;
  /** Generates responses to the prompts. */
  rollOut(job: RolloutJob, context?: JobContext): Promise<GeneratedText[]>;
  /** log π_old */
  policyLogprobs(job: ScoreJob, context?: JobContext): Promise<TokenLogprobs>;
  /** log π_ref */
  refLogprobs(job: ScoreJob, context?: JobContext): Promise<TokenLogprobs>;
  /** V_old of the states of each response. */
  values(
    job: ScoreJob & { readonly stateCounts: readonly number[] },
    context?: JobContext,
  ): Promise<Float32Array>;
  /** Computes the gradients of one micro-batch. */
  gradients(job: GradientJob, context?: JobContext): Promise<GradientResult>;
}

export interface LocalJobsOptions {
  readonly config: PPOConfig;
  readonly policy: PolicyModel;
  readonly reference?: SFTModel | undefined;
  readonly value?: ValueModel | undefined;
  readonly policyLoss: PolicyLoss;
  readonly valueLoss: ValueLoss;
}

/** Runs the jobs of a step in this process. Small models compute their gradients in one run if the loss
 *  allows it; they run everything again instead of using the cache, which costs the same time. */
export class LocalJobs implements StepJobs {
  private readonly options: LocalJobsOptions;
  private readonly isJoint: { readonly policy: boolean; readonly value: boolean };

  constructor(options: LocalJobsOptions) {
    const { policy, value, policyLoss, valueLoss } = options;
    this.options = options;
    this.isJoint = {
      policy: runsInOneSession(policy) && policyLoss.hasTokenSlopes,
      value: value !== undefined && runsInOneSession(value) && valueLoss.hasValueSlopes,
    };
  }

  /** Generates responses to the prompts with the policy. */
  rollOut({ prompts, generation }: RolloutJob, context: JobContext = {}) {
    const { policy, config } = this.options;
    const { cache, trunk, signal, onText } = context;
    const promptPasses =
      cache === undefined || this.isJoint.policy
        ? undefined
        : { save: config.saveActivations, passes: cache.prompts };
    return policy.generate(prompts, { ...generation, promptPasses, trunk, signal, onText });
  }

  async policyLogprobs({ microBatch, responses }: ScoreJob, context: JobContext = {}) {
    const { policy } = this.options;
    const { cache, trunk } = context;
    if (cache === undefined || this.isJoint.policy) return this.logprobs(policy, responses, trunk);
    const pass = await this.runPolicy(responses, context);
    cache.policy.set(microBatch, pass);
    return pass.head;
  }

  async refLogprobs({ responses }: ScoreJob, { trunk }: JobContext = {}) {
    const { reference } = this.options;
    if (reference === undefined) throw new Error('Internal: scoring needs a reference');
    return this.logprobs(reference, responses, trunk);
  }

  async values(
    { microBatch, responses, stateCounts }: Parameters<StepJobs['values']>[0],
    { cache, trunk }: JobContext = {},
  ): Promise<Float32Array> {
    const { value } = this.options;
    if (value === undefined) throw new Error('Internal: values need a value model');
    if (cache === undefined || this.isJoint.value) {
      const { prompts, tokens, observations } = textsOf(responses);
      const options = { stateCounts, observations, trunk };
      return concatFloats(await value.values(prompts, tokens, options));
    }
    const pass = await this.runValue(value, responses, { stateCounts, trunk });
    cache.value.set(microBatch, pass);
    return pass.scores;
  }

  /** Computes the gradients of one micro-batch. */
  async gradients(job: GradientJob, context: JobContext = {}): Promise<GradientResult> {
    // The value model first: its pass is cached more often, and this frees its memory.
    const value = await this.valueGradients(job, context);
    const policy = await this.policyGradients(job, context);
    return { policy, ...(value && { value }) };
  }

  private async policyGradients(
    { microBatch, experience, counts, klCoef }: GradientJob,
    context: JobContext,
  ): Promise<GradientResult['policy']> {
    const { policy, policyLoss, config } = this.options;
    const { gradients, accumulate } = collectGradients();
    const columns = {
      offsets: experience.offsets,
      oldLogprobs: experience.logprobs,
      advantages: experience.advantages,
      weights: rolloutWeights(experience, config.rolloutCorrection),
      ...counts,
    };
    const evaluate = ({ logprobs: newLogprobs, entropies }: TokenLogprobs) =>
      policyLoss.evaluate({
        ...columns,
        ...{ newLogprobs, entropies, klCoef, refLogprobs: experience.refLogprobs },
      });
    if (this.isJoint.policy && runsTokensJointly(policy, experience.tokens.length)) {
      const slopes = policyLoss.tokenSlopes(columns);
      const { temperature } = config;
      const options = { temperature, oldLogprobs: experience.logprobs, slopes, accumulate };
      const head = await jointPolicyGradients(policy, experience, options);
      return { gradients, sums: evaluate(head).sums, ratios: ratiosOf(head, experience) };
    }
    const cached = takePass(context.cache?.policy, microBatch);
    const pass = cached ?? (await this.runPolicy(experience, context));
    const { dLogprobs, dEntropies, sums } = evaluate(pass.head);
    await policyGradients(pass, { dLogprobs, dEntropies }, accumulate);
    return { gradients, sums, ratios: ratiosOf(pass.head, experience) };
  }

  private async valueGradients(
    { microBatch, experience, counts }: GradientJob,
    { cache, trunk }: JobContext,
  ): Promise<GradientResult['value']> {
    const { value, valueLoss } = this.options;
    if (value === undefined) return undefined;
    const { gradients, accumulate } = collectGradients();
    const columns = { oldValues: experience.values, returns: experience.returns, ...counts };
    const stateCounts = lengthsOf(experience.stepOffsets);
    if (this.isJoint.value) {
      const slopes = valueScoreSlopes(valueLoss.valueSlopes(columns));
      const batch = packResponses(experience);
      const rows = stateRows(batch, experience, stateCounts);
      const newValues = await jointScalarGradients(value, batch, { rows, slopes, accumulate });
      return { gradients, sums: valueLoss.evaluate({ ...columns, newValues }).sums };
    }
    const pass =
      takePass(cache?.value, microBatch) ??
      (await this.runValue(value, experience, { stateCounts, trunk }));
    const loss = valueLoss.evaluate({ ...columns, newValues: pass.scores });
    await scalarGradients(pass, loss.dValues, accumulate);
    return { gradients, sums: loss.sums };
  }

  private runPolicy(responses: ScoreJob['responses'], { cache, trunk }: JobContext) {
    const { policy, config } = this.options;
    const past = cache?.promptsOf(responses.sequences);
    return runPolicy(policy, responses, {
      temperature: config.temperature,
      withEntropy: config.entropyCoef > 0,
      save: config.saveActivations,
      ...(past && { past }),
      trunk,
    });
  }

  private runValue(
    value: ValueModel,
    responses: Responses,
    { stateCounts, trunk }: TrunkOptions & { readonly stateCounts: readonly number[] },
  ) {
    const batch = packResponses(responses);
    const rows = stateRows(batch, responses, stateCounts);
    return runScalar(value, batch, { rows, save: this.options.config.saveActivations, trunk });
  }

  private async logprobs(
    model: SFTModel,
    responses: Responses,
    trunk: Trunk | undefined,
  ): Promise<TokenLogprobs> {
    const { temperature } = this.options.config;
    const { prompts, tokens, observations } = textsOf(responses);
    const options = { temperature, observations, trunk };
    const { logprobs, entropies } = await model.logprobs(prompts, tokens, options);
    return { logprobs: concatFloats(logprobs), entropies: concatFloats(entropies) };
  }
}

function textsOf({ sequences, offsets, tokens }: Responses) {
  return {
    prompts: sequences.map(({ promptTokens }) => promptTokens),
    tokens: splitByOffsets(tokens, offsets),
    observations: sequences.map(({ observations }) => observations),
  };
}

function ratiosOf({ logprobs }: TokenLogprobs, old: Experience): Float32Array {
  return logprobs.map((x, t) => policyRatio(x - old.logprobs[t]!).ratio);
}

function collectGradients() {
  const gradients: Record<string, Float32Array> = {};
  const accumulate = (part: NamedArrays) => void Object.assign(gradients, part);
  return { gradients, accumulate };
}

/** Copies the columns of a micro-batch to the positions of its responses in a column of all responses.
 *  @param lengths per response of the micro-batch */
export function placeColumns(
  target: Float32Array,
  {
    offsets,
    indices,
    values,
  }: {
    readonly offsets: Int32Array;
    readonly indices: readonly number[];
    readonly values: Float32Array;
  },
): void {
  const lengths = indices.map((i) => offsets[i + 1]! - offsets[i]!);
  for (const [k, part] of splitByLengths(values, lengths).entries()) {
    target.set(part, offsets[indices[k]!]!);
  }
}
