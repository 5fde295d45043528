/** The largest score of a row and the sums of its weights per block, computed elsewhere. */
export interface RowSums {
  readonly max: number;
  readonly sums: Float32Array;
  readonly blockLength: number;
}

const BLOCK_LENGTH = 256;

/** softmax(x/τ) over one row of scores, stored as sums of blocks of weights.
 *  w_i = e^((x_i − max)/τ);  p_i = w_i / Σw;  sums in float64, in order of i */
export class SoftmaxRow {
  scores: Float32Array = new Float32Array(0);
  /** The largest score. */
  max = -Infinity;
  /** Σw: at least 1. */
  total = 0;
  /** 1/τ. */
  private scale = 1;
  private blockLength = BLOCK_LENGTH;
  private blockCount = 0;
  private maxima = new Float32Array(0);
  private sums = new Float64Array(0);

  /** Loads a row, which must not change until the next one is loaded. */
  load(scores: Float32Array, temperature: number): this {
    this.begin(scores, temperature, BLOCK_LENGTH);
    this.findMaxima();
    this.sumWeights();
    if (!(this.total > 0)) throw logitsError(scores);
    return this;
  }

  /** Loads a row with known float32 sums; `boundOfTop` does not work then. */
  loadWithSums(
    scores: Float32Array,
    temperature: number,
    { max, sums, blockLength }: RowSums,
  ): this {
    this.begin(scores, temperature, blockLength);
    this.max = max;
    this.sums.set(sums);
    this.total = sums.reduce((total, sum) => total + sum, 0);
    if (!(this.total > 0)) throw logitsError(scores);
    return this;
  }

  /** w_i of a score of this row. */
  weightOf(score: number): number {
    return expOfNonPositive((score - this.max) * this.scale);
  }

  /** log p_i */
  logprobOf(index: number): number {
    return (this.scores[index]! - this.max) * this.scale - Math.log(this.total);
  }

  /** −Σ p_i·log p_i in nats, with s_i = (x_i − max)/τ: log Σw − Σw·s / Σw.
   *  @example weights 1, 1  →  log 2 */
  entropy(): number {
    const { scores, max, scale, total } = this;
    let sum = 0;
    for (let i = 0; i < scores.length; i++) {
      const s = (scores[i]! - max) * scale;
      const weight = expOfNonPositive(s);
      // 0 · −∞ would be NaN.
      if (weight > 0) sum += weight * s;
    }
    return Math.log(total) - sum / total;
  }

  /** The score that has a given weight. */
  scoreOf(weight: number): number {
    return this.max + Math.log(weight) / this.scale;
  }

  /** The first index at which w_0 + … + w_i exceeds uniform · Σw: the inverse CDF in order of index.
   *  Its weight is never 0. */
  indexAt(uniform: number): number {
    const target = uniform * this.total;
    let block = 0;
    let before = 0;
    while (before + this.sums[block]! <= target) before += this.sums[block++]!;
    const { whole, last } = this.measureBlock(block);
    // The known sum of a block may be rounded differently; scale the target so that it stays inside.
    const rounding = whole / this.sums[block]!;
    const goal = rounding === 1 ? target : before + (target - before) * rounding;
    let index = block * this.blockLength;
    let inBlock = this.weightOf(this.scores[index]!);
    while (before + inBlock <= goal && index < last) {
      inBlock += this.weightOf(this.scores[++index]!);
    }
    return index;
  }

  /** A score that at least k scores reach: the k-th largest block maximum, if there are k blocks. */
  boundOfTop(k: number): number {
    if (k > this.blockCount) return -Infinity;
    return this.maxima.subarray(0, this.blockCount).sort()[this.blockCount - k]!;
  }

  private begin(scores: Float32Array, temperature: number, blockLength: number): void {
    this.scores = scores;
    // 1/τ overflows for the smallest τ, and 0 · ∞ would be NaN.
    this.scale = Math.min(1 / temperature, Number.MAX_VALUE);
    this.blockLength = blockLength;
    this.blockCount = Math.ceil(scores.length / blockLength);
    if (this.sums.length >= this.blockCount) return;
    this.maxima = new Float32Array(this.blockCount);
    this.sums = new Float64Array(this.blockCount);
  }

  private findMaxima(): void {
    const { scores, blockLength } = this;
    this.max = -Infinity;
    for (let block = 0; block < this.blockCount; block++) {
      const end = Math.min((block + 1) * blockLength, scores.length);
      let max = -Infinity;
      for (let i = block * blockLength; i < end; i++) if (scores[i]! > max) max = scores[i]!;
      this.maxima[block] = max;
      if (max > this.max) this.max = max;
    }
  }

  private sumWeights(): void {
    const { scores, max, scale, blockLength } = this;
    this.total = 0;
    for (let block = 0; block < this.blockCount; block++) {
      const end = Math.min((block + 1) * blockLength, scores.length);
      let sum = 0;
      for (let i = block * blockLength; i < end; i++) {
        sum += expOfNonPositive((scores[i]! - max) * scale);
      }
      this.sums[block] = sum;
      this.total += sum;
    }
  }

  /** Σw of a block, summed as in sumWeights(), and the last index with a positive weight. */
  private measureBlock(block: number): { readonly whole: number; readonly last: number } {
    let [whole, last] = [0, 0];
    const end = Math.min((block + 1) * this.blockLength, this.scores.length);
    for (let i = block * this.blockLength; i < end; i++) {
      const weight = this.weightOf(this.scores[i]!);
      whole += weight;
      if (weight > 0) last = i;
    }
    return { whole, last };
  }
}

function logitsError(logits: Float32Array): RangeError {
  const count = (isBad: (logit: number) => boolean) => logits.filter(isBad).length;
  const nans = count(Number.isNaN);
  const infinite = count((logit) => logit === Infinity);
  const remedy = 'compile the graph with checkNumerics to find the source';
  if (nans > 0) {
    return new RangeError(
      `Cannot sample: logits must be numbers, got NaN in ${nans} of ${logits.length}; ${remedy}`,
    );
  }
  if (infinite > 0) {
    return new RangeError(
      `Cannot sample: logits must be below Infinity, got Infinity in ${infinite} of ${logits.length}; ${remedy}`,
    );
  }
  return new RangeError(
    `Cannot sample: at least one logit must be finite, got none of ${logits.length}; leave a token unmasked`,
  );
}

/** Steps per power of two; with this many, four terms of the series below are accurate to float64. */
const steps = 1024;
const stepsPerNat = steps / Math.LN2;
const natsPerStep = Math.LN2 / steps;
/** 2^(−j/1024) for j = 0…1023. */
const fractions = Float64Array.from({ length: steps }, (_, j) => 2 ** (-j / steps));
/** 2^−n, and 0 below the smallest normal float64. */
const powers = Float64Array.from({ length: 1024 }, (_, n) => (n < 1022 ? 2 ** -n : 0));
/** The step where `powers` becomes 0. */
const lastStep = 1022 * steps;

/** eˣ for x ≤ 0 with a relative error below 10⁻¹⁴ (10⁻¹³ if x < −40); 0 below −708; NaN for NaN.
 *  k = round(−x · 1024/ln 2), r = x + k · ln 2/1024:  eˣ = 2^(−k/1024) · (1 + r + r²/2 + r³/6)
 *  Takes a third of the time of Math.exp, which would dominate the cost of sampling a token. */
export function expOfNonPositive(x: number): number {
  const t = Math.min(x * -stepsPerNat, lastStep);
  const k = (t + 0.5) | 0;
  const r = (k - t) * natsPerStep;
  return powers[k >> 10]! * fractions[k & 1023]! * (1 + r * (1 + r * (0.5 + r * (1 / 6))));
}
