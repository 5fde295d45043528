import type { SampleRow } from '../api.ts';

export interface SampleLists {
  /** The latest first. */
  readonly newest: readonly SampleRow[];
  /** Others that tell something, such as the first or the best, each with the most telling first. */
  readonly telling: readonly (readonly SampleRow[])[];
}

/** Picks `count` samples: one half are the newest, the rest come from the other lists in turn; the
 *  newest fill up what is then missing. They are in the file's order.
 *  @example newest 9 8 7 6, telling [0 1] and [5 9], count 4  →  0 5 8 9 */
export function pickSamples({ newest, telling }: SampleLists, count: number): SampleRow[] {
  const picked = new Map<number, SampleRow>();
  const fill = (rows: readonly SampleRow[], limit: number) => {
    for (const row of rows) if (picked.size < limit) picked.set(row.index, row);
  };
  fill(newest, Math.ceil(count / 2));
  fill(interleave(telling), count);
  fill(newest, count);
  return [...picked.values()].sort((a, b) => a.index - b.index);
}

/** @example [a b c] and [d]  →  a d b c */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}
