import { mean, meanInterval } from '../columns/index.ts';
import { goldScore, makeSplitPost } from '../embedded/world/index.ts';
import type { PolicyModel } from '../models/index.ts';

/** A summary and its gold score. */
export interface GoldSample {
  readonly post: string;
  readonly summary: string;
  readonly score: number;
}

export interface GoldOptions {
  readonly seed: number;
  readonly count: number;
  readonly maxNewTokens: number;
  readonly signal?: AbortSignal | undefined;
}

/** Samples one summary per held-out post and scores it with the gold scorer. */
export async function scoreSummaries(
  policy: PolicyModel,
  { seed, count, maxNewTokens, signal }: GoldOptions,
): Promise<GoldSample[]> {
  const posts = Array.from({ length: count }, (_, number) =>
    makeSplitPost('validation', { seed, number }),
  );
  const texts = await policy.generate(
    posts.map(({ text }) => text),
    { maxNewTokens, seed, streamKey: ['gold'], ...(signal && { signal }) },
  );
  return posts.map((post, i) => {
    const { text, finishReason } = texts[i]!;
    const { score } = goldScore(post, text, { finished: finishReason === 'stop' });
    return { post: post.text, summary: text.trim(), score };
  });
}

/** Compares two sets of summaries of the same posts. */
export interface GoldComparison {
  /** Number of posts. */
  readonly posts: number;
  readonly before: number;
  readonly after: number;
  /** Fraction of posts whose second summary scores higher; a tie counts ½. */
  readonly winRate: number;
  /** 95 % interval of the win rate. */
  readonly winLow: number;
  readonly winHigh: number;
  /** 95 % interval of the mean difference. */
  readonly low: number;
  readonly high: number;
}

/** Intervals are x̄ ± 1.96·s/√n over posts, for d = after − before and for wins of 1, ½ or 0.
 *  @example before [0, 0, 1], after [1, 1, 1]  →  d̄ = ⅔, s = 0.5774, interval 0.0133 … 1.3200;
 *  wins 1, 1, ½: mean ⅚, s = 0.2887, interval 0.5067 … 1.1600 */
export function compareGold(
  before: readonly Pick<GoldSample, 'score'>[],
  after: readonly Pick<GoldSample, 'score'>[],
): GoldComparison {
  const [old, now] = [before.map(({ score }) => score), after.map(({ score }) => score)];
  const d = now.map((score, i) => score - old[i]!);
  const wins = d.map((x) => (Math.sign(x) + 1) / 2);
  const [low, high] = meanInterval(d);
  const [winLow, winHigh] = meanInterval(wins);
  return {
    posts: d.length,
    before: mean(old),
    after: mean(now),
    winRate: mean(wins),
    ...{ winLow, winHigh, low, high },
  };
}
