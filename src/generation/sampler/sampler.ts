import { Candidates } from './candidates.ts';
import {
  type ResolvedSamplingOptions,
  resolveSamplingOptions,
  type SamplingOptions,
} from './sampling-options.ts';
import { type RowSums, SoftmaxRow } from './softmax-row.ts';
import { topIndices } from './top-indices.ts';

export interface SampleOptions {
  /** Which token is drawn: a number in [0, 1) from the token's own random stream. */
  readonly uniform: number;
  /** Ids of the prompt and the response so far; needed by the repetition penalty alone. */
  readonly seen?: ArrayLike<number>;
  /** Asks for the entropy and so many of the likeliest tokens. */
  readonly topLogprobs?: number | undefined;
  /** The row's sums at the sampler's temperature, where they are known. */
  readonly sums?: RowSums | undefined;
}

/** Tokens with their logprobs, the likeliest first. */
export interface LikelyTokens {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

export interface SampledToken {
  readonly token: number;
  /** log softmax(logits / temperature)[token], without penalty and filters: PPO's logprob.
   *  At temperature 0: log softmax(logits)[token]. */
  readonly logprob: number;
  /** The logprob under what was drawn from: penalised, filtered and renormalised. Equal to
   *  `logprob` where neither changes anything; 0 at temperature 0, where nothing is drawn. */
  readonly samplingLogprob: number;
  /** In nats, of what `logprob` is of; where `topLogprobs` was asked for. */
  readonly entropy?: number;
  /** The likeliest tokens of the same. */
  readonly alternatives?: LikelyTokens;
}

/** Draws tokens from rows of logits, one row a call; scratch buffers are kept between calls.
 *
 *  The token is the first in order of id at which the sum of probabilities exceeds `uniform`, so
 *  it depends on logits, uniform and seen alone. Greedy takes the first of equal logits.
 *  @example logits ln 1, ln 2, ln 1 at temperature 1: uniform 0.2 → 0, 0.25 → 1, 0.8 → 2 */
export class Sampler {
  private readonly options: ResolvedSamplingOptions;
  private readonly policy = new SoftmaxRow();
  private readonly penalised = new SoftmaxRow();
  private readonly candidates = new Candidates();
  private scores = new Float32Array(0);

  constructor(options: SamplingOptions = {}) {
    this.options = resolveSamplingOptions(options);
  }

  sample(logits: Float32Array, options: SampleOptions): SampledToken {
    const drawn = this.draw(logits, options);
    const { topLogprobs } = options;
    return topLogprobs === undefined ? drawn : { ...drawn, ...this.describePolicy(topLogprobs) };
  }

  /** What logits are divided by: 1 where the largest is taken. */
  get temperature(): number {
    return this.options.temperature || 1;
  }

  private draw(logits: Float32Array, { uniform, seen, sums }: SampleOptions): SampledToken {
    if (!(uniform >= 0 && uniform < 1)) {
      throw new RangeError(`Cannot sample: uniform must lie in [0, 1), got ${uniform}`);
    }
    const { policy, candidates } = this;
    const row = this.load(logits, seen, sums);
    if (this.options.temperature === 0) {
      const token = row.scores.indexOf(row.max);
      return { token, logprob: policy.logprobOf(token), samplingLogprob: 0 };
    }
    if (!this.filters(logits.length)) {
      const token = row.indexAt(uniform);
      const samplingLogprob = row.logprobOf(token);
      return { token, logprob: policy.logprobOf(token), samplingLogprob };
    }
    this.filter(row);
    const total = candidates.total();
    const index = candidates.indexAt(uniform, total);
    const token = candidates.ids[index]!;
    const samplingLogprob = Math.log(candidates.weights[index]!) - Math.log(total);
    return { token, logprob: policy.logprobOf(token), samplingLogprob };
  }

  /** Entropy and likeliest tokens of the row that was loaded. */
  private describePolicy(k: number): Required<Pick<SampledToken, 'entropy' | 'alternatives'>> {
    const { policy } = this;
    const ids = topIndices(policy.scores, k);
    const logprobs = Float32Array.from(ids, (id) => policy.logprobOf(id));
    return { entropy: policy.entropy(), alternatives: { ids, logprobs } };
  }

  /** The distribution that `sample()` draws from, as a new array. */
  probabilities(logits: Float32Array, { seen }: Omit<SampleOptions, 'uniform'> = {}): Float64Array {
    const { candidates } = this;
    const row = this.load(logits, seen);
    const probabilities = new Float64Array(logits.length);
    if (this.options.temperature === 0) {
      probabilities[row.scores.indexOf(row.max)] = 1;
      return probabilities;
    }
    this.filter(row);
    const total = candidates.total();
    for (let i = 0; i < candidates.length; i++) {
      probabilities[candidates.ids[i]!] = candidates.weights[i]! / total;
    }
    return probabilities;
  }

  /** Measures the policy's row and returns the one to draw from: penalised, if seen tokens are. */
  private load(
    logits: Float32Array,
    seen: ArrayLike<number> | undefined,
    sums?: RowSums,
  ): SoftmaxRow {
    const { temperature } = this;
    const { repetitionPenalty } = this.options;
    if (sums === undefined || this.filters(logits.length)) this.policy.load(logits, temperature);
    else this.policy.takeOver(logits, temperature, sums);
    if (repetitionPenalty === 1) return this.policy;
    if (seen === undefined) {
      throw new TypeError(
        `Cannot sample: repetitionPenalty ${repetitionPenalty} needs the ids seen so far, got none; ` +
          'pass those of prompt and response as seen',
      );
    }
    if (this.scores.length !== logits.length) this.scores = new Float32Array(logits.length);
    penalise(logits, { seen, repetitionPenalty, scores: this.scores });
    return this.penalised.load(this.scores, temperature);
  }

  private filters(vocabulary: number): boolean {
    const { topK, topP, minP } = this.options;
    return topK < vocabulary || topP < 1 || minP > 0;
  }

  /** Leaves the kept tokens in `candidates`. */
  private filter(row: SoftmaxRow): void {
    const { topK, topP, minP } = this.options;
    const { candidates } = this;
    const isTopK = topK < row.scores.length;
    candidates.collect(row, isTopK ? row.boundOfTop(topK) : this.floorOf(row));
    if (isTopK) candidates.keepTop(topK);
    if (topP < 1) candidates.keepTopWeight(topP * (isTopK ? candidates.total() : row.total));
    if (minP > 0) candidates.keepWeights(minP);
  }

  /** A score below which top-p or min-p removes everything: all V weights below (1 − p)Σw/V cannot
   *  sum to more than the share of 1 − p that top-p cuts off. */
  private floorOf(row: SoftmaxRow): number {
    const { topP, minP } = this.options;
    const least = Math.max(minP, ((1 - topP) * row.total) / row.scores.length);
    // A little lower, since the score is rounded; the filters themselves are exact.
    return row.scoreOf(least * (1 - 1e-9));
  }
}

interface PenaltyOptions {
  readonly seen: ArrayLike<number>;
  readonly repetitionPenalty: number;
  /** Where the penalised logits go. */
  readonly scores: Float32Array;
}

/** The repetition penalty (arXiv:1909.05858), once per seen token as in transformers:
 *  x < 0:  x · penalty;  else:  x / penalty.  Ids past the logits are passed over.
 *  @example penalty 2, logits 3, −1, 4, seen 0, 1, 0  →  1.5, −2, 4 */
function penalise(logits: Float32Array, options: PenaltyOptions): void {
  const { seen, repetitionPenalty, scores } = options;
  scores.set(logits);
  for (let i = 0; i < seen.length; i++) {
    const id = seen[i]!;
    if (!Number.isInteger(id) || id < 0) {
      throw new RangeError(`Cannot sample: seen ids must be whole numbers ≥ 0, got ${id} at ${i}`);
    }
    if (id >= logits.length) continue;
    const logit = logits[id]!;
    scores[id] = logit < 0 ? logit * repetitionPenalty : logit / repetitionPenalty;
  }
}
