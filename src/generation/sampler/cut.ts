/** The digits of an order, from the highest: 11, 11 and 10 bits. */
const digits = [
  { shift: 21, mask: 2047 },
  { shift: 10, mask: 2047 },
  { shift: 0, mask: 1023 },
] as const;

/** The weight of each value of one digit; all 0 between calls. */
const buckets = new Float64Array(2048);

/** Where a walk down the scores, from the largest, has gathered enough. */
export interface Cut {
  /** The order of the last score that is needed. */
  readonly order: number;
  /** What was gathered strictly above it. */
  readonly above: number;
}

export interface CutOptions {
  /** How many scores there are. */
  readonly length: number;
  /** What each score adds; 1 by default. */
  readonly weights?: Float64Array;
  readonly target: number;
}

/** An unsigned number that ranks float32 scores by their bits. */
export function orderOf(bits: number): number {
  return (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
}

/** Finds the largest score such that the weights of it and of all above reach the target, or the
 *  smallest if they never do: radix selection, linear in the number of scores whatever they are.
 *  @example scores 5, 3, 3, 1, target 2  →  the order of 3, above 1 */
export function findCut(bits: Int32Array, { length, weights, target }: CutOptions): Cut {
  let order = 0;
  let known = 0;
  let above = 0;
  for (const { shift, mask } of digits) {
    let lowest: number = mask;
    let highest = 0;
    for (let i = 0; i < length; i++) {
      const own = orderOf(bits[i]!);
      if ((own & known) >>> 0 !== order) continue;
      const digit = (own >>> shift) & mask;
      if (digit < lowest) lowest = digit;
      if (digit > highest) highest = digit;
      buckets[digit] = buckets[digit]! + (weights === undefined ? 1 : weights[i]!);
    }
    let digit = highest;
    // Parts may round to a lower sum than the whole did: never past what is there.
    while (digit > lowest && above + buckets[digit]! < target) above += buckets[digit--]!;
    buckets.fill(0, lowest, highest + 1);
    order = (order | (digit << shift)) >>> 0;
    known |= mask << shift;
  }
  return { order, above };
}
