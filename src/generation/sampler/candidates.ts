import type { SoftmaxRow } from './softmax-row.ts';

/** Tokens that can still be sampled, in order of id, with their scores and weights. */
export class Candidates {
  length = 0;
  ids = new Int32Array(0);
  weights = new Float64Array(0);
  private scores = new Float32Array(0);
  /** The bits of `scores`. */
  private bits = new Int32Array(0);

  /** Resets to the tokens of a row with a positive weight and a score of at least `floor`. */
  collect(row: SoftmaxRow, floor: number): void {
    const { scores: all } = row;
    this.reserve(all.length);
    const { ids, weights, scores } = this;
    let n = 0;
    for (let id = 0; id < all.length; id++) {
      const score = all[id]!;
      if (score < floor) continue;
      const weight = row.weightOf(score);
      if (weight === 0) continue;
      ids[n] = id;
      weights[n] = weight;
      // Turns −0 into 0, since equal scores need equal bits.
      scores[n++] = score + 0;
    }
    this.length = n;
  }

  /** Σw, in order of id. */
  total(): number {
    let sum = 0;
    for (let i = 0; i < this.length; i++) sum += this.weights[i]!;
    return sum;
  }

  /** Top-k: keeps the k largest scores and any that equal the k-th. */
  keepTop(k: number): void {
    if (k >= this.length) return;
    const { rank } = findThreshold(this.bits, { length: this.length, target: k });
    this.keepFrom(rank, 0);
  }

  /** Top-p: keeps the largest scores until their weights reach `target`, including the one that crosses
   *  it. Of equal scores at the threshold the highest ids stay, as with a stable sort in transformers. */
  keepTopWeight(target: number): void {
    const { length, weights, bits } = this;
    const { rank, above } = findThreshold(bits, { length, weights, target });
    let equals = 0;
    let weight = 0;
    for (let i = 0; i < length; i++) {
      if (rankOf(bits[i]!) !== rank) continue;
      equals++;
      weight = weights[i]!;
    }
    const needed = Math.max(1, Math.ceil((target - above) / weight));
    this.keepFrom(rank, equals - needed);
  }

  /** Min-p: keeps weights of at least `minimum`. */
  keepWeights(minimum: number): void {
    let n = 0;
    for (let i = 0; i < this.length; i++) if (this.weights[i]! >= minimum) this.move(i, n++);
    this.length = n;
  }

  /** The first index at which the cumulative weight exceeds uniform · total. */
  indexAt(uniform: number, total: number): number {
    const target = uniform * total;
    let index = 0;
    let sum = this.weights[0]!;
    while (sum <= target) sum += this.weights[++index]!;
    return index;
  }

  /** Keeps ranks of at least `rank`, except the first `skipped` that equal it. */
  private keepFrom(rank: number, skipped: number): void {
    let n = 0;
    let equals = 0;
    for (let i = 0; i < this.length; i++) {
      const own = rankOf(this.bits[i]!);
      if (own < rank || (own === rank && equals++ < skipped)) continue;
      this.move(i, n++);
    }
    this.length = n;
  }

  private move(from: number, to: number): void {
    this.ids[to] = this.ids[from]!;
    this.weights[to] = this.weights[from]!;
    this.scores[to] = this.scores[from]!;
  }

  private reserve(length: number): void {
    if (this.ids.length >= length) return;
    this.ids = new Int32Array(length);
    this.weights = new Float64Array(length);
    this.scores = new Float32Array(length);
    this.bits = new Int32Array(this.scores.buffer);
  }
}

/** The digits of a rank, most significant first: 11, 11 and 10 bits. */
const digits = [
  { shift: 21, mask: 2047 },
  { shift: 10, mask: 2047 },
  { shift: 0, mask: 1023 },
] as const;

/** Total weight per value of one digit; all 0 between calls. */
const buckets = new Float64Array(2048);

/** Where the cumulative weight of the scores, from the largest, reaches a target. */
export interface Threshold {
  /** The rank of the last score needed. */
  readonly rank: number;
  /** The total weight strictly above it. */
  readonly above: number;
}

export interface ThresholdOptions {
  /** Number of scores. */
  readonly length: number;
  /** Weight of each score; 1 by default. */
  readonly weights?: Float64Array;
  readonly target: number;
}

/** The rank of a float32 score: an unsigned integer that orders scores by their bits. */
export function rankOf(bits: number): number {
  return (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
}

/** Finds the largest score such that the weights of it and all larger ones reach the target, or the
 *  smallest score if they never do. Radix selection: always linear in the number of scores.
 *  @example scores 5, 3, 3, 1, target 2  →  the rank of 3, above 1 */
export function findThreshold(
  bits: Int32Array,
  { length, weights, target }: ThresholdOptions,
): Threshold {
  let rank = 0;
  let known = 0;
  let above = 0;
  for (const { shift, mask } of digits) {
    let lowest: number = mask;
    let highest = 0;
    for (let i = 0; i < length; i++) {
      const own = rankOf(bits[i]!);
      if ((own & known) >>> 0 !== rank) continue;
      const digit = (own >>> shift) & mask;
      if (digit < lowest) lowest = digit;
      if (digit > highest) highest = digit;
      buckets[digit] = buckets[digit]! + (weights === undefined ? 1 : weights[i]!);
    }
    let digit = highest;
    // Partial sums may round below the whole, so stop at the lowest digit present.
    while (digit > lowest && above + buckets[digit]! < target) above += buckets[digit--]!;
    buckets.fill(0, lowest, highest + 1);
    rank = (rank | (digit << shift)) >>> 0;
    known |= mask << shift;
  }
  return { rank, above };
}

/** Indices of the k largest scores, largest first; equal ones in order of index, −∞ never.
 *  @example scores 1, 3, −∞, 3, 2, k 3  →  1, 3, 4 */
export function topIndices(scores: Float32Array, k: number): Int32Array {
  const indices = new Int32Array(k);
  const best = new Float32Array(k).fill(-Infinity);
  let count = 0;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (!(score > best[k - 1]!)) continue;
    let place = Math.min(count, k - 1);
    for (; place > 0 && best[place - 1]! < score; place--) {
      best[place] = best[place - 1]!;
      indices[place] = indices[place - 1]!;
    }
    best[place] = score;
    indices[place] = i;
    if (count < k) count++;
  }
  return indices.slice(0, count);
}
