import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { klDerivative, klDivergence } from '../token-attribution/kl-divergence.ts';
import type { ClipRange } from './policy-loss-clip.ts';
import { type RatioInput, ratioLoss } from './policy-loss-ratio.ts';
import type { PolicySums } from './policy-loss-sums.ts';

export type PolicyLossConfig = Pick<
  PPOConfig,
  | 'clipEpsilon'
  | 'clipEpsilonHigh'
  | 'dualClip'
  | 'ratioLevel'
  | 'entropyCoef'
  | 'klPlacement'
  | 'klEstimator'
>;

export interface PolicyLossInput extends RatioInput {
  /** H_t of the new policy, [N]. */
  readonly entropies: Float32Array;
  readonly refLogprobs: Float32Array;
  /** β, where the KL stands in the loss. */
  readonly klCoef: number;
}

export interface PolicyLossResult {
  /** This part's share of the step's loss: parts add up to the whole. */
  readonly loss: number;
  /** ∂loss/∂newLogprobs, [N]. */
  readonly dLogprobs: Float32Array;
  /** ∂loss/∂entropies, [N]; undefined without an entropy bonus. */
  readonly dEntropies: Float32Array | undefined;
  readonly sums: PolicySums;
}

/**
 * The policy's loss and its gradient by the new logprobs, on the host.
 *
 * L = mean w_t·ℓ(ρ_t, A_t) + β·mean KL_t(new, ref) − entropyCoef·mean H_t, over the tokens of the whole
 * optimiser step; the KL only where it stands in the loss. There k1 pushes every token alike, which
 * is nothing on average: k2 and k3 hold the policy back.
 */
export class PolicyLoss {
  private readonly config: PolicyLossConfig;
  private readonly clip: ClipRange;

  constructor(config: PolicyLossConfig) {
    const { clipEpsilon: low, clipEpsilonHigh: high = low, dualClip: dual } = config;
    this.config = config;
    this.clip = { low, high, dual };
  }

  /** The clipped loss alone, of arrays that are the whole step; at the ratio level of sequences they
   *  are one response. A clipEpsilon here is the one below 1 and above.
   *  @example ε=0.2, new − old = ln [1.5, 0.5, 1], A=[1, 1, −1]  →  −(1.2 + 0.5 − 1)/3 = −0.2333 */
  computeLoss(
    newLogprobs: ArrayLike<number>,
    oldLogprobs: ArrayLike<number>,
    advantages: ArrayLike<number>,
    clipEpsilon?: number,
  ): number {
    const tokenCount = newLogprobs.length;
    if (tokenCount === 0) {
      throw new RangeError(
        'Cannot compute the policy loss: newLogprobs must have at least 1 element, got 0',
      );
    }
    const input = {
      offsets: Int32Array.of(0, tokenCount),
      newLogprobs: Float32Array.from(newLogprobs),
      oldLogprobs: Float32Array.from(oldLogprobs),
      advantages: Float32Array.from(advantages),
      tokenCount,
      sequenceCount: 1,
    };
    const epsilon = clipEpsilon === undefined ? {} : { low: clipEpsilon, high: clipEpsilon };
    const { ratioLevel } = this.config;
    const { sums } = ratioLoss(input, { clip: { ...this.clip, ...epsilon }, ratioLevel });
    return sums.policyLoss / tokenCount;
  }

  /** Loss, gradients and sums of some sequences of an optimiser step.
   *  @example ε=0.2, new − old = ln [1.5, 0.5, 1], A=[1, 1, −1], 3 tokens in the step
   *           →  loss −0.2333, dLogprobs [0, −0.5/3, 1/3], 1 clipped */
  evaluate(input: PolicyLossInput): PolicyLossResult {
    const { newLogprobs, refLogprobs, entropies, tokenCount } = input;
    const { length } = newLogprobs;
    expectLengths({ refLogprobs, entropies }, { action: 'compute the policy loss', length });
    const { entropyCoef, ratioLevel } = this.config;
    const { sums, gradient } = ratioLoss(input, { clip: this.clip, ratioLevel });
    const klLoss = this.addKl(input, gradient);
    const entropy = entropies.reduce((sum, h) => sum + h, 0);
    return {
      loss: (sums.policyLoss + klLoss - entropyCoef * entropy) / tokenCount,
      dLogprobs: Float32Array.from(gradient),
      dEntropies:
        entropyCoef === 0 ? undefined : new Float32Array(length).fill(-entropyCoef / tokenCount),
      sums: { ...sums, klLoss, entropy },
    };
  }

  /** Σ β·KL_t(new, ref), whose gradient is added to that given; nothing where the KL is in the rewards. */
  private addKl(
    { newLogprobs, refLogprobs, klCoef: beta, tokenCount }: PolicyLossInput,
    gradient: Float64Array,
  ): number {
    const { klPlacement, klEstimator } = this.config;
    if (klPlacement === 'reward') return 0;
    let sum = 0;
    for (let t = 0; t < newLogprobs.length; t++) {
      const d = newLogprobs[t]! - refLogprobs[t]!;
      sum += beta * klDivergence(klEstimator, d);
      gradient[t]! += (beta * klDerivative(klEstimator, d)) / tokenCount;
    }
    return sum;
  }
}
