/** Least and greatest of the numbers that are finite; undefined where none is.
 *  @example [3, NaN, −1]  →  { min: −1, max: 3 } */
export function extentOf(
  numbers: Iterable<number | null>,
): { readonly min: number; readonly max: number } | undefined {
  let [min, max] = [Infinity, -Infinity];
  for (const x of numbers) {
    if (x === null || !Number.isFinite(x)) continue;
    min = Math.min(min, x);
    max = Math.max(max, x);
  }
  return min <= max ? { min, max } : undefined;
}

/** Where a number stands between two others: 0 at the first, 1 at the second, ½ where they are equal.
 *  @example 3 between 1 and 5  →  ½ */
export function placeBetween(
  x: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  return max === min ? 0.5 : (x - min) / (max - min);
}

/** Means of the numbers of each step, in order of steps.
 *  @example (1, 2), (1, 4), (3, 5)  →  (1, 3), (3, 5) */
export function meansByStep(
  points: readonly { readonly step: number; readonly score: number | null }[],
): { readonly step: number; readonly mean: number }[] {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const { step, score } of points) {
    if (score === null) continue;
    const { sum, count } = sums.get(step) ?? { sum: 0, count: 0 };
    sums.set(step, { sum: sum + score, count: count + 1 });
  }
  return [...sums]
    .map(([step, { sum, count }]) => ({ step, mean: sum / count }))
    .sort((a, b) => a.step - b.step);
}
