import type { Rollout } from '../token-attribution/rollout.ts';

type Drawn = Pick<Rollout, 'logprobs' | 'samplingLogprobs'>;

/** Importance weights of tokens that were drawn from another distribution than π_old, such as that of
 *  an 8-bit model or of top-p, cut at a cap: w_t = min(π_old/π_drawn, cap) (truncated importance
 *  sampling). Undefined where there is nothing to correct, or the cap is 0.
 *  @example cap 2, log π_old − log π_drawn = ln [0.5, 1, 4]  →  [0.5, 1, 2] */
export function rolloutWeights(
  { logprobs, samplingLogprobs }: Drawn,
  cap: number,
): Float32Array | undefined {
  if (samplingLogprobs === undefined || cap === 0) return undefined;
  return logprobs.map((logprob, t) => Math.min(Math.exp(logprob - samplingLogprobs[t]!), cap));
}

/** How far what was drawn from is from π_old: mean over tokens of e^d − 1 − d with
 *  d = log π_old − log π_drawn, an estimate of KL(drawn, old) that is never below 0.
 *  @example d = ln 2, 0  →  (2 − 1 − 0.6931)/2 = 0.1534 */
export function rolloutMismatch({ logprobs, samplingLogprobs = logprobs }: Drawn): number {
  let sum = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const d = logprobs[t]! - samplingLogprobs[t]!;
    sum += Math.exp(d) - 1 - d;
  }
  return sum / logprobs.length;
}
