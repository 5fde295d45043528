import type { PPOConfig } from '../config/ppo-config.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import type { LayerRun, PackedBatch, PolicyModel } from '../models/index.ts';
import { KeptPasses } from './kept-passes.ts';
import { LayerPasses, type Tape } from './layer-passes.ts';
import { distinctPrompts, packSequences } from './pack-sequences.ts';
import { type PolicyRows, runPolicyHead } from './policy-head.ts';
import type { PolicyLoss } from './policy-loss.ts';
import { policyRatio } from './policy-loss-clip.ts';
import type { PolicySums } from './policy-loss-sums.ts';
import { PromptPasses } from './prompt-passes.ts';
import { putRows, stateRows } from './response-rows.ts';
import type { Responses } from './responses.ts';
import type { RoleOptimizer } from './role-optimizer.ts';
import { rolloutWeights } from './rollout-weights.ts';
import type { StepCounts } from './step-counts.ts';

export interface PolicyPassOptions {
  readonly policy: PolicyModel;
  readonly loss: PolicyLoss;
  readonly config: Pick<
    PPOConfig,
    'temperature' | 'entropyCoef' | 'saveActivations' | 'rolloutCorrection'
  >;
}

/** What a micro-batch gave besides gradients. */
export interface PolicyRun {
  readonly sums: PolicySums;
  /** ρ_t = π_new/π_old of each token, whatever the ratio level, [N]. */
  readonly ratios: Float32Array;
}

interface PolicyForward {
  readonly tape: Tape;
  readonly head: PolicyRows;
}

/** Forward, loss and backward of the policy over micro-batches. */
export class PolicyPass {
  private readonly options: PolicyPassOptions;
  private readonly layers: LayerPasses;
  private readonly prompts: PromptPasses;
  private readonly kept = new KeptPasses<PolicyForward>();

  constructor(options: PolicyPassOptions) {
    const { base, adapter } = options.policy;
    if (adapter === undefined) throw new Error('Internal: a policy in training has an adapter');
    this.options = options;
    this.layers = new LayerPasses({ base, adapter, save: options.config.saveActivations });
    this.prompts = new PromptPasses(this.layers);
  }

  /** Runs prompts for a rollout; what they leave is kept for `logprobs` and `run` until `forget`. */
  runPrompts(batch: PackedBatch): AsyncIterable<LayerRun> {
    return this.prompts.run(batch);
  }

  /** log π and entropies of some responses; the pass is kept for `run` until `forget`. */
  async logprobs(part: Responses): Promise<Pick<PolicyRows, 'logprobs' | 'entropies'>> {
    const batch = packSequences(part);
    const pass = await this.forward(batch, part);
    this.kept.keep(batch, pass);
    return pass.head;
  }

  /** To be called when the policy changes. */
  forget(): void {
    this.kept.clear();
    this.prompts.clear();
  }

  /** Adds the gradients of one micro-batch to the optimiser; counts are of the whole optimiser step. */
  async run(
    part: Experience,
    { counts, klCoef, optimizer }: { counts: StepCounts; klCoef: number; optimizer: RoleOptimizer },
  ): Promise<PolicyRun> {
    const { loss, config } = this.options;
    const batch = packSequences(part);
    const { tape, head } = this.kept.take(batch) ?? (await this.forward(batch, part));
    const { dLogprobs, dEntropies, sums } = loss.evaluate({
      offsets: part.offsets,
      newLogprobs: head.logprobs,
      oldLogprobs: part.logprobs,
      refLogprobs: part.refLogprobs,
      advantages: part.advantages,
      weights: rolloutWeights(part, config.rolloutCorrection),
      entropies: head.entropies,
      klCoef,
      ...counts,
    });
    const rows = rowsOf(batch, part);
    const dHidden = putRows(head.pullBack(dLogprobs, dEntropies), rows, tape.hidden.shape[0]!);
    await this.layers.backward(tape, dHidden, optimizer.add);
    return { sums, ratios: ratiosOf(head.logprobs, part.logprobs) };
  }

  private async forward(batch: PackedBatch, part: Responses): Promise<PolicyForward> {
    const { policy, config } = this.options;
    const tape =
      (await this.prompts.continue(batch, distinctPrompts(part))) ??
      (await this.layers.forward(batch));
    const head = await runPolicyHead(
      policy.base,
      { hidden: takeRows(tape.hidden, rowsOf(batch, part)), tokens: part.tokens },
      { temperature: config.temperature, withEntropy: config.entropyCoef > 0 },
    );
    return { tape, head };
  }
}

function rowsOf(batch: PackedBatch, { sequences, offsets }: Responses): Int32Array {
  return stateRows(batch, { sequences, stepOffsets: offsets });
}

function ratiosOf(newLogprobs: Float32Array, oldLogprobs: Float32Array): Float32Array {
  return newLogprobs.map((logprob, t) => policyRatio(logprob - oldLogprobs[t]!).ratio);
}
