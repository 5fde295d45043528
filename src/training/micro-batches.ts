import { offsetsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { freeTensors } from '../engine/runtime/index.ts';
import { freePass, freeRowPass } from '../models/decoder/pass.ts';
import type { RowPass } from '../models/index.ts';
import type { Responses } from '../models/responses.ts';
import { groupByTokens } from '../models/token-batch.ts';
import type { RolloutSequence } from '../token-attribution/rollout.ts';
import type { PolicyPass } from './policy-pass.ts';
import type { ScalarPass } from './scalar-pass.ts';

export type MicroBatchOptions = Pick<PPOConfig, 'microBatchSize' | 'maxTokensAtOnce'>;

/** What identifies a response within a step. */
export type SequenceKey = Pick<RolloutSequence, 'promptIdx' | 'sample' | 'promptTokens'>;

type Sequences = Pick<Responses, 'offsets'> & {
  readonly sequences: readonly SequenceKey[];
};

/**
 * Indices of the responses that run together: a fixed number of them, or as many as fit. Responses
 * to one prompt are neighbours, because their prompt runs once. The order of the input does not
 * matter, so every epoch forms the same micro-batches of the same responses.
 * @example prompts 1, 0, 1 with 2 responses per pass  →  [1, 0], [2]
 */
export function microBatches(
  { sequences, offsets }: Sequences,
  { microBatchSize, maxTokensAtOnce }: MicroBatchOptions,
): number[][] {
  const order = sequences
    .map((_, i) => i)
    .sort((a, b) => compare(sequences[a]!, sequences[b]!) || a - b);
  const sizes = order.map((i, k) => {
    const { promptTokens } = sequences[i]!;
    const own = offsets[i + 1]! - offsets[i]!;
    const isFollower = k > 0 && sequences[order[k - 1]!]!.promptTokens === promptTokens;
    return { length: own + promptTokens.length, shared: isFollower ? promptTokens.length : 0 };
  });
  const groups =
    microBatchSize === undefined
      ? groupByTokens(sizes, maxTokensAtOnce)
      : Array.from({ length: Math.ceil(order.length / microBatchSize) }, (_, k) => ({
          start: k * microBatchSize,
          end: (k + 1) * microBatchSize,
        }));
  return groups.map(({ start, end }) => order.slice(start, end));
}

/** Whether two sequences are the same response: samples of a prompt share one array of tokens. */
function isSame(a: SequenceKey, b: SequenceKey): boolean {
  return a.promptTokens === b.promptTokens && a.sample === b.sample;
}

function compare(
  a: Pick<RolloutSequence, 'promptIdx' | 'sample'>,
  b: Pick<RolloutSequence, 'promptIdx' | 'sample'>,
): number {
  return a.promptIdx - b.promptIdx || a.sample - b.sample;
}

type WholeConfig = Pick<PPOConfig, 'miniBatchSize' | 'bufferCapacity' | 'bufferSampling'>;

type PlanConfig = MicroBatchOptions &
  WholeConfig &
  Pick<PPOConfig, 'keepPasses' | 'maxCachedTokens'>;

/** Whether the first optimiser step trains on the step's responses, each once and nothing else.
 *  @param count number of the step's responses */
export function firstStepIsWhole(count: number, config: WholeConfig): boolean {
  const { miniBatchSize = count, bufferCapacity = count, bufferSampling } = config;
  return miniBatchSize >= count && bufferCapacity <= count && bufferSampling !== 'uniform';
}

/** The micro-batches of a step's responses, planned once: scoring and the update share them. They
 *  depend on the responses and the config alone. */
export class StepPlan {
  /** Indices into the step's responses. */
  readonly microBatches: readonly (readonly number[])[];
  /** Whether the first optimiser step reuses the passes of scoring. It must train on all responses,
   *  and the activations of all micro-batches must fit in memory together. */
  readonly reusesPasses: boolean;
  private readonly sequences: Sequences['sequences'];
  private readonly config: MicroBatchOptions;

  constructor(responses: Sequences, config: PlanConfig) {
    const count = responses.sequences.length;
    this.microBatches = microBatches(responses, config);
    this.sequences = responses.sequences;
    this.config = config;
    const { keepPasses, maxCachedTokens = 0 } = config;
    const isSmall = this.microBatches.length === 1 || countTokens(responses) <= maxCachedTokens;
    this.reusesPasses = (keepPasses ?? isSmall) && firstStepIsWhole(count, config);
  }

  /** The micro-batches of a minibatch, as indices into it: those of the plan if it holds the step's
   *  responses in any order. */
  microBatchesOf(miniBatch: Sequences): readonly (readonly number[])[] {
    const { sequences } = this;
    const places = sequences.map((sequence) =>
      miniBatch.sequences.findIndex((other) => isSame(other, sequence)),
    );
    const isWhole = miniBatch.sequences.length === sequences.length && !places.includes(-1);
    if (!isWhole) return microBatches(miniBatch, this.config);
    return this.microBatches.map((part) => part.map((i) => places[i]!));
  }
}

/** Tokens of all responses and of their prompts, each once. */
function countTokens({ sequences, offsets }: Sequences): number {
  const prompts = new Set(sequences.map(({ promptTokens }) => promptTokens));
  return [...prompts].reduce((sum, { length }) => sum + length, offsets.at(-1)!);
}

type PromptConfig = PlanConfig &
  Pick<PPOConfig, 'samplesPerPrompt' | 'maxNewTokens' | 'saveActivations'>;

/** Whether the update can reuse the rollout's passes over these prompts, for any length of the
 *  responses. With `saveActivations: 'all'` it cannot: values inside attention do not belong to one token. */
export function reusesPrompts(prompts: readonly Int32Array[], config: PromptConfig): boolean {
  const { samplesPerPrompt, maxNewTokens, saveActivations } = config;
  const sequences = prompts.flatMap((promptTokens, promptIdx) =>
    Array.from({ length: samplesPerPrompt }, (_, sample) => ({ promptIdx, sample, promptTokens })),
  );
  const offsets = offsetsOf(sequences.map(() => maxNewTokens));
  return saveActivations !== 'all' && new StepPlan({ sequences, offsets }, config).reusesPasses;
}

/** What later phases of a step reuse from earlier ones while the weights are the same. The step
 *  creates it, passes it on and drops it after the first optimiser step. */
export class StepCache {
  /** The rollout's passes over prompts, by prompt number. */
  readonly prompts = new Map<number, RowPass>();
  /** The passes that computed log π_old, by micro-batch. */
  readonly policy = new Map<number, PolicyPass>();
  /** The passes that computed V_old, by micro-batch. */
  readonly value = new Map<number, ScalarPass>();

  /** Frees everything. */
  free(): void {
    for (const prompt of this.prompts.values()) freeRowPass(prompt);
    for (const { pass, head } of this.policy.values()) {
      freePass(pass);
      head.free();
    }
    for (const { pass, hidden } of this.value.values()) {
      freePass(pass);
      freeTensors(hidden);
    }
    for (const passes of [this.prompts, this.policy, this.value]) passes.clear();
  }

  /** The passes over the prompts of some responses, if all of them are known. */
  promptsOf(sequences: Sequences['sequences']): RowPass[] | undefined {
    // A map keeps the order of first insertion, which is that of the prompts' rows.
    const numbers = new Map(sequences.map((one) => [one.promptTokens, one.promptIdx]));
    const passes = [...numbers.values()].flatMap((number) => this.prompts.get(number) ?? []);
    return passes.length === numbers.size ? passes : undefined;
  }
}

/** Removes and returns a pass: a tape can be used once. */
export function takePass<T>(passes: Map<number, T> | undefined, key: number): T | undefined {
  const pass = passes?.get(key);
  passes?.delete(key);
  return pass;
}
