import { expectLengths } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type ClipRange, clippedLoss, policyRatio } from './policy-loss-clip.ts';
import type { PolicySums } from './policy-loss-sums.ts';

/** Logprobs and advantages of some sequences of an optimiser step, as columns of N tokens. */
export interface RatioInput {
  /** Sequence i has the tokens from offsets[i] to offsets[i + 1], [B + 1]. */
  readonly offsets: Int32Array;
  readonly newLogprobs: Float32Array;
  readonly oldLogprobs: Float32Array;
  readonly advantages: Float32Array;
  /** w_t of each token's loss, [N]; 1 if not given. */
  readonly weights?: Float32Array | undefined;
  /** Tokens of the whole optimiser step. */
  readonly tokenCount: number;
  /** Sequences of the whole optimiser step. */
  readonly sequenceCount: number;
}

export interface RatioOptions {
  readonly clip: ClipRange;
  readonly ratioLevel: PPOConfig['ratioLevel'];
}

export interface RatioLoss {
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
export function ratioLoss(input: RatioInput, { clip, ratioLevel }: RatioOptions): RatioLoss {
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
      `Internal: ${length} logprobs with offsets to ${offsets.at(-1)} are no part of ${tokenCount} tokens in ${sequenceCount} sequences`,
    );
  }
}
