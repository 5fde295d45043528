import { findCut, orderOf } from './cut.ts';
import type { SoftmaxRow } from './softmax-row.ts';

/** Tokens that may still be drawn, in order of id, with their scores and weights. */
export class Candidates {
  length = 0;
  ids = new Int32Array(0);
  weights = new Float64Array(0);
  private scores = new Float32Array(0);
  /** The bits of `scores`. */
  private bits = new Int32Array(0);

  /** Starts over with each token of the row that has a weight and whose score is at least `floor`. */
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
      // −0 becomes 0: equal scores need equal bits.
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

  /** Top-k: keeps the k largest scores and whatever equals the last of them. */
  keepTop(k: number): void {
    if (k >= this.length) return;
    const { order } = findCut(this.bits, { length: this.length, target: k });
    this.keepFrom(order, 0);
  }

  /** Top-p: keeps the largest scores until their weights reach `target`, the one that crosses it
   *  included. Of equal scores at the cut the highest ids stay, as where transformers' sort is stable. */
  keepTopWeight(target: number): void {
    const { length, weights, bits } = this;
    const { order, above } = findCut(bits, { length, weights, target });
    let equals = 0;
    let weight = 0;
    for (let i = 0; i < length; i++) {
      if (orderOf(bits[i]!) !== order) continue;
      equals++;
      weight = weights[i]!;
    }
    const needed = Math.max(1, Math.ceil((target - above) / weight));
    this.keepFrom(order, equals - needed);
  }

  /** Min-p: keeps the weights of at least `minimum`. */
  keepWeights(minimum: number): void {
    let n = 0;
    for (let i = 0; i < this.length; i++) if (this.weights[i]! >= minimum) this.move(i, n++);
    this.length = n;
  }

  /** The first position at which the weights so far exceed uniform · total. */
  indexAt(uniform: number, total: number): number {
    const target = uniform * total;
    let index = 0;
    let sum = this.weights[0]!;
    while (sum <= target) sum += this.weights[++index]!;
    return index;
  }

  /** Keeps what ranks at `order` or above, save the first `skipped` of those that equal it. */
  private keepFrom(order: number, skipped: number): void {
    let n = 0;
    let equals = 0;
    for (let i = 0; i < this.length; i++) {
      const own = orderOf(this.bits[i]!);
      if (own < order || (own === order && equals++ < skipped)) continue;
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
