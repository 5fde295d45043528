/** Which of a prompt's completions is better than which, by their places from 0. */
export interface PairPlaces {
  readonly chosen: number;
  readonly rejected: number;
  /** Probability that the chosen one is better: 1, ½ for a tie. */
  readonly target: number;
  /** Part of the prompt: those of one prompt add up to 1. */
  readonly weight: number;
}

/** The best of n is better than each other one; nothing is said of the others among themselves.
 *  weight = 1 / (n − 1)
 *  @example n=3, best=1  →  1 > 0 and 1 > 2, ½ each */
export function expandBest(best: number, count: number): PairPlaces[] {
  const others = Array.from({ length: count }, (_, i) => i).filter((i) => i !== best);
  const weight = 1 / others.length;
  return others.map((rejected) => ({ chosen: best, rejected, target: 1, weight }));
}

/** A ranking says something of every two: which is better, or that they are equal.
 *  weight = 1 / (n(n − 1)/2)
 *  @param ranks places of completions from best to worst, those of one rank together
 *  @example [[2], [0, 1]]  →  2 > 0, 2 > 1 and 0 = 1 with target ½, ⅓ each */
export function expandRanking(ranks: readonly (readonly number[])[]): PairPlaces[] {
  const order = ranks.flatMap((places, rank) => places.map((place) => ({ place, rank })));
  const weight = 2 / (order.length * (order.length - 1));
  return order.flatMap((better, i) =>
    order.slice(i + 1).map((worse) => ({
      chosen: better.place,
      rejected: worse.place,
      target: better.rank === worse.rank ? 0.5 : 1,
      weight,
    })),
  );
}
