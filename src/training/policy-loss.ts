import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { klDerivative, klDivergence } from '../token-attribution/kl-divergence.ts';
import type { Rollout } from '../token-attribution/rollout.ts';

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

/** What the policy loss reads per token. */
export interface PolicyLossInput extends RatioInput {
  /** H_t of the new policy, [N]. */
  readonly entropies: Float32Array;
  readonly refLogprobs: Float32Array;
  /** β, if the KL is in the loss. */
  readonly klCoef: number;
}

/** The policy loss and its gradients. */
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
 * The policy's loss and its gradient with respect to the new logprobs, on the host.
 *
 * L = mean w_t·ℓ(ρ_t, A_t) + β·mean KL_t(new, ref) − entropyCoef·mean H_t, over the tokens of the whole
 * optimiser step; the KL term only if the KL is in the loss. The
 * gradient of k1 is 0 on average, so only k2 and k3 restrain the policy there.
 */
export class PolicyLoss {
  private readonly config: PolicyLossConfig;
  private readonly clip: ClipRange;

  constructor(config: PolicyLossConfig) {
    const { clipEpsilon: low, clipEpsilonHigh: high = low, dualClip: dual } = config;
    this.config = config;
    this.clip = { low, high, dual };
  }

  /** Only the clipped loss, for arrays that contain the whole step; with `ratioLevel: 'sequence'` they are
   *  one response. A `clipEpsilon` passed here applies below and above 1.
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

  /** Whether the gradient of each token depends only on its own new logprob, so that `tokenSlopes` exist:
   *  not for sequence ratios, a KL in the loss, an entropy bonus or the loss of a subclass. */
  get hasTokenSlopes(): boolean {
    const { entropyCoef, ratioLevel, klPlacement } = this.config;
    const isOwn = this.evaluate === PolicyLoss.prototype.evaluate;
    return isOwn && ratioLevel === 'token' && klPlacement === 'reward' && entropyCoef === 0;
  }

  /** The gradient of each token as a function of its new logprob, if `hasTokenSlopes`. */
  tokenSlopes(input: Omit<RatioInput, 'newLogprobs'>): TokenSlopes {
    const { advantages, weights, tokenCount } = input;
    const ranges = Array.from(advantages, (advantage) => slopeRange(advantage, this.clip));
    return {
      slopes: advantages.map((advantage, t) => (-advantage * (weights?.[t] ?? 1)) / tokenCount),
      lows: Float32Array.from(ranges, ([low]) => low),
      highs: Float32Array.from(ranges, ([, high]) => high),
    };
  }

  /** Σ β·KL_t(new, ref), whose gradient is added to `dLogprobs`; 0 if the KL is in the rewards. */
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

/** ∂L/∂new of each token as a function of d = new − old: slope·e^d if low ≤ d ≤ high, otherwise 0. */
export interface TokenSlopes {
  readonly slopes: Float32Array;
  readonly lows: Float32Array;
  readonly highs: Float32Array;
}

/** Logprobs and advantages of some sequences of an optimiser step, as columns of N tokens. */
interface RatioInput {
  /** Sequence i has the tokens from offsets[i] to offsets[i + 1], [B + 1]. */
  readonly offsets: Int32Array;
  readonly newLogprobs: Float32Array;
  readonly oldLogprobs: Float32Array;
  readonly advantages: Float32Array;
  /** w_t of each token's loss, [N]; 1 by default. */
  readonly weights?: Float32Array | undefined;
  /** Tokens of the whole optimiser step. */
  readonly tokenCount: number;
  /** Sequences of the whole optimiser step. */
  readonly sequenceCount: number;
}

interface RatioOptions {
  readonly clip: ClipRange;
  readonly ratioLevel: PPOConfig['ratioLevel'];
}

interface RatioLoss {
  readonly sums: Omit<PolicySums, 'klLoss' | 'entropy'>;
  /** ∂L/∂newLogprobs, [N]. */
  readonly gradient: Float64Array;
}

/**
 * The clipped loss over spans that share a ratio: single tokens, or whole sequences (GSPO,
 * arXiv:2507.18071), where ρ is the geometric mean of the tokens' ratios.
 *
 * With T tokens in a span and n spans in the step: d = mean_t(new − old), ρ = e^d,
 * L = (1/n) Σ_spans (1/T) Σ_t w_t·ℓ(ρ, A_t). Each token moves d by 1/T, so all of a span have the
 * gradient ∂L/∂new = ∂ρ/∂d · Σ_t w_t·∂ℓ/∂ρ / (n·T²).
 * @example one sequence, ε=0.2, new − old = [2 ln 1.1, 0], A=[1, 3]  →  ρ=1.1, L=−(1.1 + 3.3)/2 = −2.2,
 *          gradient 1.1·(−1 − 3)/4 = −1.1 on both tokens
 */
function ratioLoss(input: RatioInput, { clip, ratioLevel }: RatioOptions): RatioLoss {
  expectRatioInput(input);
  const { newLogprobs, oldLogprobs, advantages, weights, tokenCount, sequenceCount } = input;
  const [spans, n] =
    ratioLevel === 'token'
      ? [everyToken(newLogprobs.length), tokenCount]
      : [input.offsets, sequenceCount];
  const sums = { policyLoss: 0, clipped: 0, approxKl: 0, ratio: 0, squaredRatio: 0 };
  const gradient = new Float64Array(newLogprobs.length);
  for (let i = 0; i + 1 < spans.length; i++) {
    const [start, end] = [spans[i]!, spans[i + 1]!];
    const T = end - start;
    let d = 0;
    for (let t = start; t < end; t++) {
      const logRatio = newLogprobs[t]! - oldLogprobs[t]!;
      d += logRatio / T;
      sums.approxKl += 0.5 * logRatio ** 2;
    }
    const { ratio, slope: dRatio } = policyRatio(d);
    let slopes = 0;
    for (let t = start; t < end; t++) {
      const { loss, slope, clipped } = clippedLoss(ratio, advantages[t]!, clip);
      const w = weights?.[t] ?? 1;
      sums.policyLoss += (w * loss * tokenCount) / (n * T);
      sums.clipped += Number(clipped);
      slopes += w * slope;
    }
    sums.ratio += T * ratio;
    sums.squaredRatio += T * ratio ** 2;
    gradient.fill((dRatio * slopes) / (n * T * T), start, end);
  }
  return { sums, gradient };
}

/** Offsets of spans of one token each. */
function everyToken(count: number): Int32Array {
  return Int32Array.from({ length: count + 1 }, (_, t) => t);
}

function expectRatioInput(input: RatioInput): void {
  const { offsets, newLogprobs, oldLogprobs, advantages, tokenCount, sequenceCount } = input;
  const { length } = newLogprobs;
  const { weights = advantages } = input;
  expectLengths(
    { oldLogprobs, advantages, weights },
    { action: 'compute the policy loss', length },
  );
  if (offsets.at(-1) !== length || length > tokenCount || offsets.length - 1 > sequenceCount) {
    throw new Error(
      `Internal: ${length} logprobs with offsets to ${offsets.at(-1)} are not part of ${tokenCount} tokens in ${sequenceCount} sequences`,
    );
  }
}

/** Bounds of the ratio. */
export interface ClipRange {
  /** ε below 1. */
  readonly low: number;
  /** ε above 1. */
  readonly high: number;
  /** c: bound of the ratio if the advantage is negative. */
  readonly dual: number | undefined;
}

export interface ClippedLoss {
  readonly loss: number;
  /** ∂loss/∂ρ: 0 where the loss is clipped. */
  readonly slope: number;
  /** Whether the clipped term is strictly the larger loss. */
  readonly clipped: boolean;
}

/** Largest |log ρ|: beyond it the ratio stays, and has no gradient. */
const MAX_LOG_RATIO = 20;

/** The ratio of new to old policy from their logprobs' difference d, with its derivative.
 *  ρ = exp(clamp(d, ±20));  ∂ρ/∂d = ρ inside, 0 outside
 *  @example d = ln 3  →  ρ = 3, slope 3
 *  @example d = 21  →  ρ = e^20, slope 0 */
export function policyRatio(d: number): { readonly ratio: number; readonly slope: number } {
  const ratio = Math.exp(Math.min(Math.max(d, -MAX_LOG_RATIO), MAX_LOG_RATIO));
  return { ratio, slope: Math.abs(d) > MAX_LOG_RATIO ? 0 : ratio };
}

/** PPO's clipped loss of one action (arXiv:1707.06347), with optional dual clip (arXiv:1912.09729).
 *  ℓ = −min(ρA, clip(ρ, 1 − ε_low, 1 + ε_high)·A);  dual, if A < 0: ℓ ← min(ℓ, −cA)
 *  @example ε=0.2, ρ=1.5, A=1  →  ℓ=−1.2, slope 0, clipped
 *  @example ε=0.2, ρ=5, A=−1  →  ℓ=5, slope 1; with c=3  →  ℓ=3, slope 0 */
export function clippedLoss(
  ratio: number,
  advantage: number,
  { low, high, dual }: ClipRange,
): ClippedLoss {
  const plain = -ratio * advantage;
  const cut = -Math.min(Math.max(ratio, 1 - low), 1 + high) * advantage;
  if (cut > plain) return { loss: cut, slope: 0, clipped: true };
  const bound = dual !== undefined && advantage < 0 ? -dual * advantage : Infinity;
  if (plain > bound) return { loss: bound, slope: 0, clipped: false };
  return { loss: plain, slope: -advantage, clipped: false };
}

/** The log-ratios at which `clippedLoss` of `policyRatio` has a gradient.
 *  @example ε=0.2, A=1  →  −20 to ln 1.2; A=−1  →  ln 0.8 to 20, with c=3 to ln 3 */
function slopeRange(
  advantage: number,
  { low, high, dual = Infinity }: ClipRange,
): readonly [low: number, high: number] {
  if (advantage > 0) return [-MAX_LOG_RATIO, Math.min(Math.log(1 + high), MAX_LOG_RATIO)];
  const lowest = low < 1 ? Math.log(1 - low) : -Infinity;
  return [Math.max(lowest, -MAX_LOG_RATIO), Math.min(Math.log(dual), MAX_LOG_RATIO)];
}

/** Sums over tokens, which add up over the micro-batches of an optimiser step. */
export interface PolicySums {
  /** Clipped losses, weighted so that their mean over tokens is the loss at either ratio level. */
  readonly policyLoss: number;
  /** β·KL_t of new and reference policy; 0 unless the KL is in the loss. */
  readonly klLoss: number;
  /** Tokens whose clipped term is strictly the larger loss. */
  readonly clipped: number;
  /** ½(new − old)² */
  readonly approxKl: number;
  readonly entropy: number;
  readonly ratio: number;
  readonly squaredRatio: number;
}

/** Adds sums field by field. */
export function addSums<Sums extends { readonly [Name in keyof Sums]: number }>(
  a: Sums,
  b: Sums,
): Sums {
  const names = Object.keys(a) as (keyof Sums)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Sums;
}

/** Means over the tokens of one or more optimiser steps, by TRL's names.
 *  val/ratio_var = mean ρ² − (mean ρ)², over tokens
 *  @example two tokens with ρ = 1, 3  →  val/ratio 2, val/ratio_var 5 − 4 = 1 */
export function policyMetrics(sums: PolicySums, tokenCount: number) {
  const ratio = sums.ratio / tokenCount;
  return {
    'loss/policy_avg': sums.policyLoss / tokenCount,
    'loss/kl_avg': sums.klLoss / tokenCount,
    'policy/approxkl_avg': sums.approxKl / tokenCount,
    'policy/clipfrac_avg': sums.clipped / tokenCount,
    'policy/entropy_avg': sums.entropy / tokenCount,
    'val/ratio': ratio,
    // Rounding can make the difference of two nearly equal numbers negative.
    'val/ratio_var': Math.max(0, sums.squaredRatio / tokenCount - ratio ** 2),
  };
}

type Drawn = Pick<Rollout, 'logprobs' | 'samplingLogprobs'>;

/** Importance weights of tokens that were sampled from a distribution other than π_old, such as that of
 *  an 8-bit model or of top-p, truncated at a cap: w_t = min(π_old/π_sampled, cap) (truncated importance
 *  sampling). Undefined if there is nothing to correct or the cap is 0.
 *  @example cap 2, log π_old − log π_sampled = ln [0.5, 1, 4]  →  [0.5, 1, 2] */
export function rolloutWeights(
  { logprobs, samplingLogprobs }: Drawn,
  cap: number,
): Float32Array | undefined {
  if (samplingLogprobs === undefined || cap === 0) return undefined;
  return logprobs.map((logprob, t) => Math.min(Math.exp(logprob - samplingLogprobs[t]!), cap));
}

/** How far the sampling distribution is from π_old: mean over tokens of e^d − 1 − d with
 *  d = log π_old − log π_sampled, an estimate of KL(sampled, old) that is never negative.
 *  @example d = ln 2, 0  →  (2 − 1 − 0.6931)/2 = 0.1534 */
export function rolloutMismatch({ logprobs, samplingLogprobs = logprobs }: Drawn): number {
  let sum = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const d = logprobs[t]! - samplingLogprobs[t]!;
    sum += Math.exp(d) - 1 - d;
  }
  return sum / logprobs.length;
}
