/** Rows of columns: from `from`, before `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Where buckets begin that cut rows into equal parts, and where the last one ends.
 *  @example rows 0 … 9, 3 buckets  →  [0, 3, 6, 9] */
export function cutIntoBuckets({ from, to }: RowRange, count: number): number[] {
  const size = (to - from) / count;
  return Array.from({ length: count + 1 }, (_, i) => from + Math.floor(i * size));
}

/** The least and the greatest number of each bucket, in the order in which they stand; NaN counts
 *  as no number.
 *  @example [1, 5, 2, 4, 3, NaN], buckets [0, 3, 6]  →  [1, 5, 4, 3] */
export function thinColumn(column: Float64Array, bounds: readonly number[]): Float64Array {
  const thin = new Float64Array(2 * (bounds.length - 1));
  for (let bucket = 0; bucket + 1 < bounds.length; bucket++) {
    const [first, second] = findExtremes(column, bounds[bucket]!, bounds[bucket + 1]!);
    thin[2 * bucket] = first;
    thin[2 * bucket + 1] = second;
  }
  return thin;
}

function findExtremes(column: Float64Array, from: number, to: number): [number, number] {
  let [least, greatest] = [Number.NaN, Number.NaN];
  let [leastAt, greatestAt] = [from, from];
  for (let row = from; row < to; row++) {
    const value = column[row]!;
    if (Number.isNaN(value)) continue;
    // Nothing compares with the NaN that stands for none yet.
    if (!(value >= least)) {
      least = value;
      leastAt = row;
    }
    if (!(value <= greatest)) {
      greatest = value;
      greatestAt = row;
    }
  }
  return leastAt <= greatestAt ? [least, greatest] : [greatest, least];
}
