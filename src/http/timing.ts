import type { RandomStream } from '../engine/random/index.ts';

/** Seconds. */
const MAX_DELAY = 30;

/** Seconds to wait after the k-th failure, with u uniform in [0, 1).
 *  min(backoff·2^(k−1), 30 s)·(½ + u/2)
 *  @example backoff=0.5, k=3, u=½  →  2·¾ = 1.5 */
export function retryDelay(
  k: number,
  { backoff, random }: { readonly backoff: number; readonly random: Pick<RandomStream, 'next'> },
): number {
  return Math.min(backoff * 2 ** (k - 1), MAX_DELAY) * (0.5 + random.next() / 2);
}

/** Seconds as whole milliseconds for a timer, at most about 25 days: a timer treats longer times as 1 ms.
 *  @example 0.07  →  70 */
export function toTimer(seconds: number): number {
  return Math.min(Math.round(1000 * seconds) || 1, 2 ** 31 - 1);
}
