/** Numbers at steps that rise. */
export interface Points {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Columns over one list of steps. Undefined says that a series has no such step, so that its line
 *  goes on; null that it has no number there, so that its line has a gap. */
export interface Aligned {
  readonly steps: number[];
  readonly columns: (number | null | undefined)[][];
}

/** Puts series over the steps that any of them has.
 *  @example steps [1, 3] with [5, null], and [2, 3] with [7, 8]  →  steps [1, 2, 3], [5, undefined, null], [undefined, 7, 8] */
export function alignSeries(series: readonly Points[]): Aligned {
  const lists = [...new Set(series.map(({ steps }) => steps))];
  const steps =
    lists.length === 1
      ? [...lists[0]!]
      : [...new Set(lists.flat())].sort((first, second) => first - second);
  const places = new Map(steps.map((step, place) => [step, place]));
  const columns = series.map((one) => {
    const column = new Array<number | null | undefined>(steps.length).fill(undefined);
    one.steps.forEach((step, i) => {
      column[places.get(step)!] = one.values[i] ?? null;
    });
    return column;
  });
  return { steps, columns };
}

/** The place whose step is nearest to one and has a number; −1 where there is none.
 *  @example steps [10, 20, 30], values [1, null, 3], step 19  →  0 (10 is as near as any with a number) */
export function nearestPlace({ steps, values }: Points, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  let before = low - 1;
  let after = low;
  while (before >= 0 && values[before] == null) before--;
  while (after < steps.length && values[after] == null) after++;
  if (after >= steps.length) return before;
  if (before < 0) return after;
  return step - steps[before]! <= steps[after]! - step ? before : after;
}
