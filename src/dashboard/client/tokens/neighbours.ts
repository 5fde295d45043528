import type { SampleRow } from '../../api.ts';

/** A sample among others. */
export interface Neighbours {
  /** Its line; undefined where it is not among them. */
  readonly row: SampleRow | undefined;
  /** Indices of the nearest samples with tokens on either side. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

/** Finds a sample and those beside it in lines that stand in the order of the file.
 *  @example 3 with tokens, 4, 5, 6 with tokens: of 5  →  previous 3, next 6 */
export function neighboursOf(index: number, rows: readonly SampleRow[]): Neighbours {
  const withTokens = rows.filter(({ hasTokens }) => hasTokens).map((row) => row.index);
  return {
    row: rows.find((row) => row.index === index),
    previous: withTokens.findLast((other) => other < index),
    next: withTokens.find((other) => other > index),
  };
}
