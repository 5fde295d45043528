import { ValueAdder } from '../advantage/value-adder.ts';
import { offsetsOf, splitByLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { PolicyModel, ResponseLogprobs, ValueModel } from '../models/index.ts';
import type { Rollout } from '../token-attribution/rollout.ts';
import { type MicroBatchOptions, microBatches } from './micro-batches.ts';
import type { PolicyPass } from './policy-pass.ts';
import { type Responses, responsesOf, selectResponses } from './responses.ts';
import type { ValuePass } from './value-pass.ts';

type KeepConfig = MicroBatchOptions & Pick<PPOConfig, 'keepPasses' | 'miniBatchSize'>;

type PromptConfig = KeepConfig &
  Pick<PPOConfig, 'samplesPerPrompt' | 'maxNewTokens' | 'saveActivations'>;

/** Parts whose passes the first optimiser step of the update can take over: it must be of all
 *  responses, and memory must be there for all parts at once. None if it is not so. */
function keptParts(
  responses: Pick<Responses, 'sequences' | 'offsets'>,
  config: KeepConfig,
): number[][] | undefined {
  const { length } = responses.sequences;
  if ((config.miniBatchSize ?? length) < length) return undefined;
  const parts = microBatches(responses, config);
  return (config.keepPasses ?? parts.length === 1) ? parts : undefined;
}

/** Whether the update takes over a pass over these prompts, however long the responses get. Values
 *  inside attention do not belong to a token, so it cannot where they are saved. */
export function keepsPrompts(prompts: readonly Int32Array[], config: PromptConfig): boolean {
  const { samplesPerPrompt: samples, maxNewTokens, saveActivations } = config;
  const sequences = prompts.flatMap((promptTokens, promptIdx) =>
    Array.from({ length: samples }, (_, sample) => ({ promptIdx, sample, promptTokens })),
  );
  const offsets = offsetsOf(sequences.map(() => maxNewTokens));
  return saveActivations !== 'all' && keptParts({ sequences, offsets }, config) !== undefined;
}

/** V_old, by passes that the update takes over where it can: the model is the same. */
export class FirstValues {
  private readonly pass: ValuePass;
  private readonly config: KeepConfig;
  private readonly otherwise: ValueAdder;

  constructor(pass: ValuePass, { value, config }: { value: ValueModel; config: KeepConfig }) {
    this.pass = pass;
    this.config = config;
    this.otherwise = new ValueAdder(value);
  }

  async addValues(
    rollout: Pick<Rollout, 'sequences' | 'offsets' | 'tokens'>,
    stepOffsets: Int32Array,
  ): Promise<Float32Array> {
    const parts = keptParts(rollout, this.config);
    if (parts === undefined) return this.otherwise.addValues(rollout, stepOffsets);
    const values = new Float32Array(stepOffsets.at(-1)!);
    for (const indices of parts) {
      const counts = indices.map((i) => stepOffsets[i + 1]! - stepOffsets[i]!);
      const part = { ...selectResponses(rollout, indices), stepOffsets: offsetsOf(counts) };
      const found = splitByLengths(await this.pass.values(part), counts);
      for (const [k, i] of indices.entries()) values.set(found[k]!, stepOffsets[i]!);
    }
    return values;
  }
}

/** log π_old, by passes that the update takes over where it can. */
export class FirstLogprobs {
  private readonly pass: PolicyPass;
  private readonly config: KeepConfig;
  private readonly policy: PolicyModel;

  constructor(pass: PolicyPass, { policy, config }: { policy: PolicyModel; config: KeepConfig }) {
    this.pass = pass;
    this.config = config;
    this.policy = policy;
  }

  /** Of responses that come in the order of their prompts. */
  async logprobs(
    prompts: readonly Int32Array[],
    responses: readonly Int32Array[],
    options: { readonly temperature?: number } = {},
  ): Promise<ResponseLogprobs> {
    const all = responsesOf(prompts, responses);
    const parts = keptParts(all, this.config);
    if (parts === undefined) return this.policy.logprobs(prompts, responses, options);
    const logprobs: Float32Array[] = [];
    const entropies: Float32Array[] = [];
    for (const indices of parts) {
      const found = await this.pass.logprobs(selectResponses(all, indices));
      const lengths = indices.map((i) => responses[i]!.length);
      const cut = [
        splitByLengths(found.logprobs, lengths),
        splitByLengths(found.entropies, lengths),
      ] as const;
      for (const [k, i] of indices.entries()) {
        logprobs[i] = cut[0][k]!;
        entropies[i] = cut[1][k]!;
      }
    }
    return { logprobs, entropies };
  }
}
